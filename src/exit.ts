/**
 * The end of the process, which is the gateway's own to decide. A plugin that calls `process.exit` would end every
 * stream of every client with it, so once the gateway runs the ways to do that throw instead. What a plugin can still
 * do (native code, an endless loop) no process can defend itself against.
 */
const own = {
  exit: process.exit.bind(process),
  reallyExit: (process as unknown as { reallyExit(code?: number): never }).reallyExit.bind(process),
  kill: process.kill.bind(process),
};

let ending = false;

/** Ends the process, guarded or not. */
export function exitProcess(code = 0): never {
  ending = true;
  return own.exit(code);
}

/** Ways to end the process that nobody but the gateway may take. */
const GUARDED = ["exit", "abort", "execve"];

/** @param onAttempt hears of each refused attempt; the error's stack leads to who tried. */
export function guardProcess(onAttempt: (message: string, attempt: Error) => void): void {
  const refuse = (call: string): never => {
    const attempt = new Error(`process.${call} was refused: a plugin cannot end the gateway`);
    onAttempt("something tried to end the process", attempt);
    throw attempt;
  };
  for (const name of GUARDED) replace(name, () => refuse(`${name}()`));
  // What the true `exit` calls beneath.
  replace("reallyExit", (code?: number) => (ending ? own.reallyExit(code) : refuse("reallyExit()")));
  replace("kill", (pid: number, signal?: string | number) =>
    isSelf(pid) && signal !== 0 ? refuse(`kill(${pid})`) : own.kill(pid, signal),
  );
}

/** Itself, or a whole group of processes it is in. */
function isSelf(pid: number): boolean {
  return pid === process.pid || pid <= 0;
}

function replace(name: string, value: unknown): void {
  Object.defineProperty(process, name, { value, writable: false, configurable: false, enumerable: true });
}
