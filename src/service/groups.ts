/** Process groups of a feature, which end with it. */
import { signalProcess } from "../process/exit.ts";
import type { Child, ChildOptions } from "./seams.ts";

/** Starts programs as leaders of groups. */
export class Groups {
  readonly #running = new Set<number>();
  readonly #tell: (id: number, runs: boolean) => void;

  /** @param tell tells the owner of this process, which kills the groups if this process is killed */
  constructor(tell: (id: number, runs: boolean) => void) {
    this.#tell = tell;
  }

  /** @throws Error of the system if the program cannot be started */
  spawn(command: readonly string[], { cwd, env }: ChildOptions): Child {
    const child = Bun.spawn([...command], {
      ...{ cwd, env: { ...env }, detached: true },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { pid } = child;
    this.#running.add(pid);
    this.#tell(pid, true);
    const exited = child.exited.then(() => {
      killGroup(pid);
      this.#running.delete(pid);
      this.#tell(pid, false);
      return { code: child.exitCode, signal: child.signalCode };
    });
    const { stdin, stdout, stderr } = child;
    return { pid, stdin, stdout, stderr, exited, signal: (name) => signalGroup(pid, name) };
  }

  killAll(): void {
    for (const id of this.#running) killGroup(id);
  }
}

/** Kills what is left of a group. */
export function killGroup(id: number): void {
  signalGroup(id, "SIGKILL");
}

function signalGroup(id: number, name: NodeJS.Signals): void {
  try {
    signalProcess(-id, name);
  } catch {
    // All of its processes have ended.
  }
}
