/** Programs that print a secret. No shell reads the command. */
import type { Environment, Store } from "../store.ts";

/** Longest run of a program. Milliseconds. */
const RUN_MS = 5_000;
/** Longest part of what a program says on standard error. Characters. */
const MAX_SAID = 300;

export function execStore(env: Environment): Store {
  return {
    async read(command) {
      const [program, ...args] = argumentsOf(command);
      if (program === undefined) throw new Error("names no program");
      const child = start([program, ...args], env);
      const out = new Response(child.stdout).text();
      const err = new Response(child.stderr).text();
      const timer = setTimeout(() => child.kill("SIGKILL"), RUN_MS);
      try {
        const code = await child.exited;
        if (child.signalCode === "SIGKILL") throw new Error(`did not end within ${RUN_MS / 1_000} s`);
        // What a program prints before it fails may be the secret.
        if (code !== 0) throw new Error(`ended with ${code}${sayings(await endOf(err))}`);
        const content = (await endOf(out)).replace(/\r?\n$/, "");
        if (content === "") throw new Error(`printed nothing${sayings(await endOf(err))}`);
        return { content };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function start(command: string[], env: Environment) {
  try {
    return Bun.spawn(command, { env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  } catch {
    throw new Error(`cannot be started: there is no program ${command[0]}`);
  }
}

/** A child of the program may hold its output open. */
function endOf(text: Promise<string>): Promise<string> {
  return Promise.race([text, Bun.sleep(500).then(() => "")]);
}

function sayings(text: string): string {
  const line = text.replace(/\s+/g, " ").trim().slice(0, MAX_SAID);
  return line === "" ? "" : `: ${line}`;
}

/** The words of a command: quotes keep words together, and nothing else has a meaning. */
export function argumentsOf(command: string): string[] {
  return [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(
      /"([^"]*)"|'([^']*)'/g,
      (_whole, double?: string, single?: string) => double ?? single ?? "",
    ),
  );
}
