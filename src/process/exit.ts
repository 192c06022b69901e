/**
 * Guards the end of the process. A plugin that calls `process.exit` would end every stream of every client, so while the
 * gateway runs, the functions that end the process throw instead. A process cannot defend itself against native code or
 * endless loops in a plugin.
 */
const own = {
  exit: process.exit.bind(process),
  reallyExit: (process as unknown as { reallyExit(code?: number): never }).reallyExit.bind(process),
  kill: process.kill.bind(process),
};

let ending = false;

/** Ends the process, also when it is guarded. */
export function exitProcess(code = 0): never {
  ending = true;
  return own.exit(code);
}

/** Sends a signal, also to this process when it is guarded. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  own.kill(pid, signal);
}

/** Functions that end the process; only the gateway may call them. */
const GUARDED = ["exit", "abort", "execve"];

/** @param onAttempt called for each refused attempt with an error whose stack shows the caller */
export function guardProcess(onAttempt: (message: string, attempt: Error) => void): void {
  const refuse = (call: string): never => {
    const attempt = new Error(`process.${call} was refused: a plugin must not end the gateway`);
    onAttempt("a plugin tried to end the process", attempt);
    throw attempt;
  };
  for (const name of GUARDED) replace(name, () => refuse(`${name}()`));
  // The original `exit` calls `reallyExit`.
  replace("reallyExit", (code?: number) => (ending ? own.reallyExit(code) : refuse("reallyExit()")));
  replace("kill", (pid: number, signal?: string | number) =>
    isSelf(pid) && signal !== 0 ? refuse(`kill(${pid})`) : own.kill(pid, signal),
  );
}

/** Whether a process id means this process or a process group that contains it. */
function isSelf(pid: number): boolean {
  return pid === process.pid || pid <= 0;
}

function replace(name: string, value: unknown): void {
  Object.defineProperty(process, name, { value, writable: false, configurable: false, enumerable: true });
}
