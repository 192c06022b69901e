/** Where the tests run programs: the host of a process of a feature, without the process. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Groups } from "../../../../service/groups.ts";
import type { ServiceHost } from "../../../../service/seams.ts";

export class Place implements ServiceHost, Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "weir-tools-test-"));
  readonly said: string[] = [];
  /** Programs that were started. */
  readonly started: number[] = [];
  readonly #groups = new Groups(() => {});

  readonly folder = () => this.root;
  readonly fault = (sentence: string) => void this.said.push(sentence);
  readonly info = (sentence: string) => void this.said.push(sentence);
  readonly spawn: ServiceHost["spawn"] = (command, options) => {
    const child = this.#groups.spawn(command, options);
    this.started.push(child.pid);
    return child;
  };

  [Symbol.dispose](): void {
    this.#groups.killAll();
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const fake = (...args: string[]) => [
  process.execPath,
  join(import.meta.dir, "fake-server.ts"),
  ...args,
];

/** Processes of a group that have not ended. */
export function membersOf(group: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [, state, , of] = / \((?:.*)\) (\S) (\d+) (\d+) /s.exec(
          readFileSync(`/proc/${name}/stat`, "utf8"),
        )!;
        return Number(of) === group && state !== "Z";
      } catch {
        return false;
      }
    })
    .map(Number);
}

export const descriptors = () => readdirSync("/proc/self/fd").length;

/** Waits until something holds. @throws Error after 10 s */
export async function until(holds: () => boolean, ms = 10_000): Promise<void> {
  for (const end = performance.now() + ms; !holds(); await Bun.sleep(10))
    if (performance.now() > end) throw new Error(`it did not come to hold: ${holds}`);
}
