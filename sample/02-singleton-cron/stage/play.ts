import type { Fleet, Replica, Told } from './replica.js';

const HOUR_MS = 3_600_000;

interface Run {
  readonly replica: Replica;
  readonly instant: number;
  readonly fencingToken: number;
  state: 'runs' | 'ok' | 'killed';
}

/** Three replicas, one of them killed in a run, and what their runs were. */
export class Play {
  readonly runs: Run[] = [];

  constructor(private readonly fleet: Fleet) {}

  /** Clocks that are right, an hour ahead, and five seconds behind. */
  async begin(): Promise<void> {
    const shifts = [0, HOUR_MS, -5000];
    await Promise.all(shifts.map(async (shiftMs, index) => this.start(`replica-${String(index + 1)}`, shiftMs)));
  }

  /** Comes back when so many runs have ended. */
  async until(count: number): Promise<void> {
    while (this.runs.filter(({ state }) => state === 'ok').length < count) await tick();
  }

  /** Kills whoever runs the job next, in the middle of it. */
  async killNext(): Promise<void> {
    const before = this.runs.length;
    while (this.runs.length === before) await tick();
    const run = this.runs.at(-1) as Run;
    run.state = 'killed';
    await run.replica.kill();
    print(run.instant, run.replica.name, `is killed in the run, with fencing token ${String(run.fencingToken)}`);
  }

  private async start(name: string, shiftMs: number): Promise<void> {
    // Its job may run before we have it in hand.
    const early: Told[] = [];
    let listen = (told: Told): void => {
      early.push(told);
    };
    const replica = await this.fleet.start(name, shiftMs, (told) => {
      listen(told);
    });
    listen = (told) => {
      this.tell(replica, told);
    };
    early.forEach(listen);
  }

  private tell(replica: Replica, { what, instant, fencingToken }: Told): void {
    if (what === 'began') {
      const again = this.runs.some((run) => run.instant === instant);
      this.runs.push({ replica, instant, fencingToken, state: 'runs' });
      const said = `runs${again ? ' it again' : ''}, though its clock says ${timeOf(Date.now() + replica.shiftMs)}`;
      print(
        instant,
        replica.name,
        `${replica.shiftMs === 0 ? (again ? 'runs it again' : 'runs') : said}; fencing token ${String(fencingToken)}`,
      );
      return;
    }
    const run = this.runs.find((one) => one.fencingToken === fencingToken);
    if (run?.state === 'runs') run.state = 'ok';
  }
}

/** `03:00:00  replica-1  runs …`: the instant first. */
function print(instant: number, who: string, what: string): void {
  console.log(`${timeOf(instant)}  ${who}  ${what}`);
}

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 19);
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));
