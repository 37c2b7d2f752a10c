/** One command of Redis, as MONITOR shows it. */
export interface Monitored {
  /** Milliseconds since the epoch, by the server. */
  readonly at: number;
  readonly args: readonly string[];
  /** `lua` for what a script does. */
  readonly source: string;
}

interface Place {
  readonly ticket: number;
  readonly process: string;
}

/** What one key did last: a lease began, an offer was made, the key was given back. */
export interface Step {
  readonly at: number;
  readonly kind: 'granted' | 'offered' | 'freed';
  readonly holderId: string;
  readonly token: number;
}

/** The clock of a script is read a moment before MONITOR shows what it does. */
const SLACK_MS = 20;

/**
 * What the line of one key must have looked like at each moment, from the commands that Redis carried out, in their order. Knows
 * nothing of the library but how it writes things down, and collects what breaks the rules of the line.
 */
export class LineModel {
  readonly violations: string[] = [];
  readonly steps: Step[] = [];
  readonly places = new Map<string, Place>();
  private readonly alive = new Map<string, number>();
  /** Who left the line in this script, and has not been judged. */
  private readonly left = new Map<string, Place>();
  private script: readonly string[] = [];
  private offer: string | undefined;
  private lapsed = false;
  private token = 0;

  constructor(readonly lease: string) {}

  /** A new script begins; `args` is the command that started it. */
  begin(args: readonly string[] = []): void {
    this.script = args;
    this.left.clear();
    this.lapsed = false;
  }

  see({ at, args }: Monitored): void {
    const [name = '', key = '', ...rest] = args;
    const command = name.toUpperCase();
    if (key === `${this.lease}:queue`) this.queue(command, rest);
    else if (key === `${this.lease}:waiters`) this.waiters(at, command, rest);
    else if (key === this.lease && command === 'SET') this.set(at, rest[0] ?? '');
    else if (key === this.lease && command === 'DEL') this.step(at, 'freed', '', this.token);
  }

  private queue(command: string, [first = '', second = '']: readonly string[]): void {
    if (command === 'ZADD') {
      const before = this.places.get(second);
      const place = { ticket: Number(first), process: second.split(' ')[0] ?? '' };
      if (before && before.ticket !== place.ticket) this.violations.push(`the ticket of ${second} changed`);
      this.places.set(second, place);
    }
    if (command !== 'ZREM') return;
    const place = this.places.get(first);
    this.places.delete(first);
    if (place) this.left.set(first, place);
  }

  private waiters(at: number, command: string, [field = '', second = '']: readonly string[]): void {
    if (command === 'HSET' && field !== '!' && field !== '?') this.alive.set(field, Number.parseInt(second));
    if (command === 'DEL') this.alive.clear();
    if (command !== 'HDEL') return;
    if (field !== '!') {
      if (this.lives(field, at)) this.violations.push(`the process ${field} was taken for dead, though it is alive`);
      this.alive.delete(field);
    } else if (second !== '') {
      // Only an offer that nobody claimed is ended together with its process.
      this.lapsed = true;
      this.alive.delete(second);
    }
  }

  private set(at: number, value: string): void {
    const [holderId = '', token = '', , , state = ''] = value.split(' ');
    if (state === 'r') {
      this.offer = holderId;
      this.judgeTurn(at, holderId, 'offered');
      this.left.clear();
      this.step(at, 'offered', holderId, Number(token));
      return;
    }
    // Extended by its holder.
    if (Number(token) === this.token) return;
    if (Number(token) < this.token) this.violations.push(`token ${token} after ${String(this.token)}`);
    this.token = Number(token);
    if (this.offer !== holderId && !this.lapsed) this.judgeTurn(at, holderId, 'granted');
    this.offer = undefined;
    // A script may treat several requests for one key: what the next one does is judged by itself.
    this.left.clear();
    this.lapsed = false;
    this.step(at, 'granted', holderId, Number(token));
  }

  /** Nobody of a live process may have been in front. */
  private judgeTurn(at: number, holderId: string, what: string): void {
    const own = [...this.left].find(([member]) => member.split(' ')[1] === holderId)?.[1];
    const ticket = own?.ticket ?? Infinity;
    if (what === 'offered' && !own) this.violations.push(`offered to ${holderId}, who was not in the line`);
    for (const [member, place] of this.places) {
      if (place.ticket < ticket)
        this.violations.push(`${what} to ${holderId} (${String(ticket)}) past ${member} (${String(place.ticket)})`);
    }
    for (const [member, place] of this.left) {
      // One that gives up its place is named in the request: a wait that was cancelled, whatever else the script does.
      if (place === own || place.ticket > ticket || this.script.includes(member)) continue;
      if (this.lives(place.process, at)) this.violations.push(`${member} was dropped, though its process is alive`);
    }
  }

  private lives(process: string, at: number): boolean {
    return (this.alive.get(process) ?? 0) > at + SLACK_MS;
  }

  private step(at: number, kind: Step['kind'], holderId: string, token: number): void {
    this.steps.push({ at, kind, holderId, token });
  }
}
