/**
 * Runs test files in several processes of `bun test`, each with a share of the files, and ends a process that prints nothing for
 * too long. `bun test --parallel` waits for ever for a file that blocks its process, and does not say which one that is.
 */

export interface Counts {
  pass: number;
  /** Failed tests, and files that failed without one: they do not load, or did not end. */
  fail: number;
}

export interface FileRunOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Processes side by side. */
  width: number;
  /** Files of one process. Default: 12. */
  files?: number;
  /** Longest time without a line of output; a test may take a minute less. Milliseconds. Default: 7 minutes. */
  idleMs?: number;
  /** Takes the output of a process, once it ended. Default: standard error. */
  print?: (output: string) => void;
}

interface Ended extends Counts {
  output: string;
  /** The process was ended, because it printed nothing for `idleMs`. */
  isStuck: boolean;
}

const FILES = 12;
const IDLE_MS = 420_000;
/** Longest time for the rest of the output of a process that has ended. Milliseconds. */
const PIPES_MS = 10_000;

/** Process ids of what runs now: each is a process group, so that the children of a test end with it. */
const running = new Set<number>();

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.on(signal, () => {
    for (const pid of running) endGroup(pid);
    process.exit(code);
  });

/** Runs the files in shares that mix folders, so that no share has all the slow ones. @returns the sums of all */
export async function runFiles(files: readonly string[], options: FileRunOptions): Promise<Counts> {
  const { width, print = (output) => void process.stderr.write(output) } = options;
  const shares = Math.max(1, Math.ceil(files.length / (options.files ?? FILES)));
  const waiting = Array.from({ length: shares }, (_, share) => files.filter((_, n) => n % shares === share));
  const sums: Counts = { pass: 0, fail: 0 };
  const add = ({ pass, fail }: Counts) => {
    sums.pass += pass;
    sums.fail += fail;
  };
  const work = async () => {
    for (let share = waiting.shift(); share; share = waiting.shift()) {
      const ended = await runShare(share, options);
      print(ended.output);
      if (!ended.isStuck) add(ended);
      else if (share.length > 1) {
        print(
          `\n!! no output for too long: ${lastFile(ended.output) ?? share[0]} did not end. Its share runs again, file by file.\n`,
        );
        waiting.push(...share.map((file) => [file]));
      } else {
        print(`\n(fail) ${share[0]} did not end: it printed nothing for too long.\n`);
        add(ended);
      }
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return sums;
}

/** The file whose tests were printed last. */
function lastFile(output: string): string | undefined {
  return [...output.matchAll(/^(\S+\.test\.tsx?):$/gm)].at(-1)?.[1];
}

async function runShare(share: readonly string[], options: FileRunOptions): Promise<Ended> {
  const { cwd, env, idleMs = IDLE_MS } = options;
  const timeout = String(Math.max(1_000, idleMs - 60_000));
  const child = Bun.spawn(
    [process.execPath, "test", "--timeout", timeout, ...share.map((file) => `./${file}`)],
    {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    },
  );
  running.add(child.pid);
  let output = "";
  let isStuck = false;
  const end = () => {
    isStuck = true;
    endGroup(child.pid);
  };
  let timer = setTimeout(end, idleMs);
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      output += decoder.decode(piece, { stream: true });
      clearTimeout(timer);
      timer = setTimeout(end, idleMs);
    }
  };
  const reads = Promise.all([read(child.stdout), read(child.stderr)]);
  const code = await child.exited;
  // A process that a test left behind would keep the pipes open: one of the same group ends here, any other is not waited for.
  endGroup(child.pid);
  await Promise.race([reads, Bun.sleep(PIPES_MS)]);
  clearTimeout(timer);
  running.delete(child.pid);
  // `bun test` prints its sums last.
  const count = (what: string) =>
    Number([...output.matchAll(new RegExp(`^ *(\\d+) ${what}$`, "gm"))].at(-1)?.[1] ?? 0);
  const fail = count("fail");
  return { output, isStuck, pass: count("pass"), fail: code !== 0 && fail === 0 ? 1 : fail };
}
