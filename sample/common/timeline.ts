/** Prints what happens, one line each, with the seconds since the start. */
export class Timeline {
  private startedAt = performance.now();
  private scenes = 0;

  /** The time counts from here. */
  begin(): void {
    this.startedAt = performance.now();
  }

  scene(title: string): void {
    this.scenes += 1;
    console.log(`\n${this.scenes}. ${title}`);
  }

  line(who: string, what: string): void {
    const seconds = ((performance.now() - this.startedAt) / 1000).toFixed(2);
    console.log(`${seconds.padStart(7)} s  ${who.padEnd(9)}  ${what}`);
  }
}
