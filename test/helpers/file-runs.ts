/**
 * Runs test files in several processes of `bun test`, each with a share of the files, and ends a process that prints nothing for
 * too long. `bun test --parallel` waits for ever for a file that blocks its process, and does not say which one that is.
 * A file that fails beside others is run once more alone: a fault fails again, and what only a loaded machine breaks is named.
 */

export interface Counts {
  pass: number;
  /** Failed tests, and files that failed without one: they do not load, or did not end. */
  fail: number;
}

export interface FileCounts extends Counts {
  /** Files that failed beside others and passed alone. */
  unsteady: readonly string[];
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
  /** Files that may run once more alone; if more fail, none does. Default: 3. */
  again?: number;
  /** Takes the output of a process, once it ended. Default: standard error. */
  print?: (output: string) => void;
}

interface Ended extends Counts {
  output: string;
  /** Failed tests by file; a file that does not load is not among them. */
  failed: ReadonlyMap<string, number>;
  /** The process was ended, because it printed nothing for `idleMs`. */
  isStuck: boolean;
}

const FILES = 12;
const IDLE_MS = 420_000;
const AGAIN = 3;
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
export async function runFiles(files: readonly string[], options: FileRunOptions): Promise<FileCounts> {
  const { width, print = (output) => void process.stderr.write(output) } = options;
  const shares = Math.max(1, Math.ceil(files.length / (options.files ?? FILES)));
  const waiting = Array.from({ length: shares }, (_, share) => files.filter((_, n) => n % shares === share));
  const sums: Counts = { pass: 0, fail: 0 };
  const failed = new Map<string, number>();
  const add = (ended: Ended) => {
    sums.pass += ended.pass;
    sums.fail += ended.fail;
    for (const [file, count] of ended.failed) failed.set(file, count);
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
  const unsteady: string[] = [];
  if (failed.size > (options.again ?? AGAIN)) return { ...sums, unsteady };
  for (const [file, count] of failed) {
    const alone = await runShare([file], options);
    print(alone.output);
    if (alone.isStuck || alone.fail > 0) continue;
    unsteady.push(file);
    sums.pass += count;
    sums.fail -= count;
  }
  return { ...sums, unsteady };
}

/**
 * The failed tests of each file, by what `bun test` prints: a line with the file's name, then a line for each test. Below many
 * tests it repeats the lines of the failed ones, behind a line `1 tests failed:`; there they belong to no file.
 */
function failedIn(output: string): Map<string, number> {
  const failed = new Map<string, number>();
  let file = "";
  const repeated = [...output.matchAll(/^\d+ tests? failed:$/gm)].at(-1)?.index;
  for (const [line, named] of output.slice(0, repeated).matchAll(/^(?:(\S+\.test\.tsx?):|\(fail\) .*)$/gm)) {
    if (named !== undefined) file = named;
    else if (line !== "" && file !== "") failed.set(file, (failed.get(file) ?? 0) + 1);
  }
  return failed;
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
  const fails = code !== 0 && fail === 0 ? 1 : fail;
  const failed = failedIn(output);
  const named = [...failed.values()].reduce((sum, each) => sum + each, 0);
  // A test may print such lines itself. A second run may take back only failures that were counted, so then there is none.
  if (named > fails) failed.clear();
  return { output, isStuck, pass: count("pass"), fail: fails, failed };
}
