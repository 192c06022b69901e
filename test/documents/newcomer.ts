/** A newcomer: an empty home, an empty folder, and a PATH with what the README says one has. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../helpers/command.ts";
import { ROOT } from "../helpers/documents.ts";

export interface Pasted {
  /** -1 while it runs. */
  code: number;
  /** What the terminal shows: standard output and errors. */
  shown: string;
}

export interface Background {
  /** Waits until the terminal shows a text. @throws Error with all that it shows if the command ends before, or not in time */
  shows(text: string | RegExp): Promise<string>;
  /** Ctrl+C. */
  stop(): Promise<number>;
}

const PATIENCE_MS = 300_000;

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

/**
 * Clients, as far as the documents use them: one question, and the text of the answer. They wait two seconds for a head.
 * The first word says which client it is, the last one is the question.
 */
const CLIENTS = `
const [client, ...words] = process.argv.slice(2);
const env = process.env;
const text = words.at(-1) ?? "Hello";
const messages = [{ role: "user", content: text }];
const gemini = { contents: [{ role: "user", parts: [{ text }] }] };
const messagesTo = (base, model) => [base + "/v1/messages", { model, max_tokens: 50, messages }];
const chatTo = (base, model) => [base + "/chat/completions", { model, messages }];
const opencode = () => {
  const { model, provider } = JSON.parse(env.OPENCODE_CONFIG_CONTENT);
  const [name, ...rest] = model.split("/");
  const { baseURL, apiKey } = provider[name].options;
  return [...chatTo(baseURL, rest.join("/")), apiKey];
};
const [url, body, key = env.ANTHROPIC_AUTH_TOKEN ?? env.OPENAI_API_KEY ?? "none"] = {
  claude: () => messagesTo(env.ANTHROPIC_BASE_URL, env.ANTHROPIC_MODEL ?? "claude-sonnet-5"),
  gemini: () => [env.GOOGLE_GEMINI_BASE_URL + "/v1beta/models/gemini-3-pro:generateContent", gemini],
  "ask.py": () => chatTo(env.OPENAI_BASE_URL, "mock/chat"),
  "ask.js": () => chatTo(env.OPENAI_BASE_URL, "mock/chat"),
  "chat.py": () => ["http://" + env.OLLAMA_HOST + "/api/chat", { model: "mock/chat", stream: false, messages }],
  "opencode-ai": opencode,
}[client]();
const response = await fetch(url, {
  method: "POST",
  signal: AbortSignal.timeout(20_000),
  headers: { "content-type": "application/json", authorization: "Bearer " + key },
  body: JSON.stringify(body),
});
const answer = await response.json();
if (!response.ok) throw new Error(JSON.stringify(answer.error));
const turn = answer.choices?.[0].message ?? answer.message;
const part = answer.content?.[0] ?? answer.candidates?.[0].content.parts[0];
console.log(turn?.content ?? part.text);
`;

export class Newcomer {
  readonly home = mkdtempSync(join(tmpdir(), "weir-newcomer-"));
  readonly folder = join(this.home, "project");
  /** The port of the gateway, in place of 9347, which may be taken. */
  readonly port = freePort();
  readonly #variables: Record<string, string> = {};
  readonly #running = new Set<Bun.Subprocess>();

  constructor() {
    mkdirSync(this.folder);
    mkdirSync(join(this.home, "run"), { mode: 0o700 });
    const programs = join(this.home, ".local/bin");
    mkdirSync(programs, { recursive: true });
    const bun = process.execPath;
    // What `npx -y bun@1.4.5` does without asking a registry, and what `run setup` leaves behind.
    this.program("npx", [
      `case "$2" in opencode-ai) shift; exec ${quoted([bun, join(this.home, "clients.mjs")])} "$@" ;; esac`,
      `[ "$1 $2" = "-y bun@1.4.5" ] || { echo "npx: unexpected $*" >&2; exit 1; }`,
      "shift 2",
      `case "$1 $2" in`,
      `  "run start") exec ${quoted(PROGRAM)} serve ;;`,
      `  "run weir") shift 2; exec ${quoted(PROGRAM)} "$@" ;;`,
      `  "run setup") [ -x ${quoted([join(programs, "weir")])} ] ;;`,
      `  *) exec ${quoted([bun])} "$@" ;;`,
      "esac",
    ]);
    this.program("weir", [`exec ${quoted(PROGRAM)} "$@"`]);
    const clients = join(this.home, "clients.mjs");
    writeFileSync(clients, CLIENTS);
    const client = (name: string) => `exec ${quoted([bun, clients, name])} "$@"`;
    for (const name of ["claude", "gemini"]) this.program(name, [client(name)]);
    // The name of the program is the client; in place of the path that the drill makes of it, its last part.
    for (const name of ["python", "node"])
      this.program(name, [`client=\${1##*/}`, "shift", `exec ${quoted([bun, clients])} "$client" "$@"`]);
    this.program("npm", [`[ "$*" = test ] || exit 1`, `exec ${quoted([bun])} test`]);
  }

  /** Puts a program on the PATH. @param lines its shell script */
  program(name: string, lines: readonly string[]): void {
    const path = join(this.home, ".local/bin", name);
    writeFileSync(path, ["#!/bin/sh", ...lines, ""].join("\n"));
    chmodSync(path, 0o755);
  }

  /** `export NAME=VALUE` in the newcomer's shell. */
  set(name: string, value: string): void {
    this.#variables[name] = value;
  }

  write(name: string, text: string): void {
    mkdirSync(join(this.folder, name, ".."), { recursive: true });
    writeFileSync(join(this.folder, name), this.here(text));
  }

  /** `npm install` of the SDKs. @param folder inside the newcomer's folder */
  installSdks(folder = "."): void {
    const path = join(this.folder, folder, "node_modules");
    if (!existsSync(path)) symlinkSync(join(ROOT, "node_modules"), path);
  }

  /** A text with the address of this gateway. */
  here(text: string): string {
    return text.replaceAll("127.0.0.1:9347", `127.0.0.1:${this.port}`);
  }

  #spawn(block: string): Bun.Subprocess<"ignore", "pipe", "inherit"> {
    const child = Bun.spawn(["sh", "-c", `{ ${this.here(block)}\n} 2>&1`], {
      cwd: this.folder,
      env: {
        PATH: `${join(this.home, ".local/bin")}:${process.env["PATH"] ?? ""}`,
        HOME: this.home,
        XDG_RUNTIME_DIR: join(this.home, "run"),
        WEIR_PORT: String(this.port),
        ...this.#variables,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
      // A process group of its own, as in a terminal.
      detached: true,
    });
    this.#running.add(child);
    void child.exited.then(() => this.#running.delete(child));
    return child;
  }

  /** Pastes a block and waits for its end. */
  async paste(block: string): Promise<Pasted> {
    const child = this.#spawn(block);
    const timer = setTimeout(() => end(child, "SIGKILL"), PATIENCE_MS);
    const shown = await new Response(child.stdout).text();
    const code = await child.exited;
    clearTimeout(timer);
    return { code, shown };
  }

  /** Pastes a block that goes on, in a terminal of its own. */
  start(block: string): Background {
    const child = this.#spawn(block);
    let shown = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const piece of child.stdout) shown += decoder.decode(piece, { stream: true });
    })();
    const has = (text: string | RegExp) =>
      typeof text === "string" ? shown.includes(text) : text.test(shown);
    return {
      async shows(text) {
        const giveUpAt = Date.now() + PATIENCE_MS;
        while (!has(text)) {
          if (child.exitCode !== null || Date.now() > giveUpAt)
            throw new Error(`${String(text)} was not shown (exit code ${child.exitCode}):\n${shown}`);
          await Bun.sleep(20);
        }
        return shown;
      },
      async stop() {
        end(child, "SIGINT");
        await reading;
        return child.exited;
      },
    };
  }

  async leave(): Promise<void> {
    const left = [...this.#running];
    for (const child of left) end(child, "SIGKILL");
    await Promise.all(left.map((child) => child.exited));
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Signals a process with all its children. */
function end(child: Bun.Subprocess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid, signal);
  } catch {}
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
