/* eslint-disable @typescript-eslint/no-explicit-any -- methods of every shape are decorated */

/** Read this as the error: the parameter's type cannot hold what the decorator puts there. */
export interface WrongParameterType<Given> {
  readonly 'this parameter cannot hold what the decorator puts there': Given;
}

/** The index, if `Given` fits the parameter there. What cannot be looked up (a private method) is not checked. */
type Fitting<Target, Method, Index extends number, Given> = Method extends keyof Target
  ? Target[Method] extends (...args: infer Args) => any
    ? Required<Args>[Index] extends infer Parameter
      ? [Given] extends [Parameter]
        ? Index
        : WrongParameterType<Given>
      : Index
    : Index
  : Index;

/** A parameter decorator that fills its parameter with a `Given`. */
export type InjectingDecorator<Given> = <Target extends object, Method extends string | symbol | undefined, Index extends number>(
  target: Target,
  method: Method,
  index: Index & Fitting<Target, Method, Index, Given>,
) => void;
