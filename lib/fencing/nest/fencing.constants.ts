/** Injection token of the guard that `@FencedRequest` asks; `FencingModule` provides it. */
export const FENCING_GUARD = 'lease:fencing-guard (import FencingModule.forRoot())';
