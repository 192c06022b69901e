/** A model that follows a script, a server of tools, and weir as a user runs it with an agent. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject, parseJson } from "../../../src/core/json.ts";
import { jobLanguage } from "../../clients/job/provider.ts";
import { PROGRAM } from "../command.ts";
import { environmentIn } from "../environment.ts";
import { json, startUpstream } from "../upstream.ts";

/** What a model says after the results that it has. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly (readonly [tool: string, line?: string])[];
}

/** @param model as the provider names it */
export type Script = (results: readonly string[], model: string) => Said;

export interface Ran {
  readonly code: number;
  /** What the agent said at last. */
  readonly said: string | undefined;
  readonly out: string;
  readonly err: string;
}

const AGENT = join(import.meta.dir, "agent.ts");
const PROBER = join(import.meta.dir, "prober.ts");
const SERVER = join(import.meta.dir, "notes-server.ts");
/** A child that does not end within this time is killed. Milliseconds. */
const PATIENCE_MS = 90_000;
/** Runs what follows where there is no network but a loopback interface. */
export const ISOLATED = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];

export class RunStage {
  readonly folder = mkdtempSync(join(tmpdir(), "weir-runs-"));
  /** Models that were asked, in order. */
  readonly asked: string[] = [];
  readonly #upstream: ReturnType<typeof startUpstream>;

  constructor(script: Script) {
    this.#upstream = startUpstream(({ path, body }) => {
      const format = path.includes("/messages") ? "messages" : "chat-completions";
      const request = parseJson(body.toString("utf8"));
      if (!isObject(request)) return json({ error: { message: "no such thing" } }, 404);
      const language = jobLanguage(format);
      const { results, stream } = language.read(request, path);
      const model = String(request["model"]);
      this.asked.push(model);
      const { text, calls = [] } = script(results, model);
      const turn = { number: results.length, reasoning: "So.", ...(text !== undefined && { text }), model };
      const made = calls.map(([name, line = ""], at) => ({
        ...{ id: `call_${results.length}_${at}`, name, kind: "function" as const },
        input: JSON.stringify(line === "" ? {} : { line }),
      }));
      return language.write({ ...turn, calls: made }, stream);
    });
    this.configure();
  }

  get notes(): string {
    return join(this.folder, "notes.txt");
  }

  /** The lines that the tool has written. */
  get lines(): string[] {
    return existsSync(this.notes) ? readFileSync(this.notes, "utf8").trim().split("\n") : [];
  }

  /** @param command of the server */
  configure(command: readonly string[] = [process.execPath, SERVER], more: object = {}): void {
    const { url } = this.#upstream;
    const price = { input: 1, output: 10 };
    const models = ["m", "x", "y"];
    const config = {
      providers: {
        fake: { baseUrl: `${url}/v1`, apiKey: "unused", speaks: "chat-completions", models },
        claude: { baseUrl: url, apiKey: "unused", speaks: "messages", models },
      },
      prices: Object.fromEntries(
        models.flatMap((one) => ["fake", "claude"].map((by) => [`${by}/${one}`, price])),
      ),
      tools: { pin: "off", servers: { notes: { command, env: { NOTES: this.notes }, allow: ["*"] } } },
      ...more,
    };
    writeFileSync(join(this.folder, "weir.yaml"), JSON.stringify(config));
  }

  /** @param before what runs the command, such as {@link ISOLATED} */
  async weir(args: readonly string[], before: readonly string[] = []): Promise<Ran> {
    const child = Bun.spawn([...before, ...PROGRAM, ...args], {
      ...{ cwd: this.folder, env: environmentIn(this.folder), timeout: PATIENCE_MS },
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    const said = /^SAID (.*)$/m.exec(out)?.[1];
    return { code: await child.exited, said, out, err };
  }

  /** The words that run an agent. */
  agent(sdk: "openai" | "anthropic", { server = "notes", task = "Write notes." } = {}): string[] {
    const model = sdk === "openai" ? "fake/m" : "claude/m";
    return ["--", process.execPath, AGENT, sdk, model, server, task];
  }

  /** The words that run a client of tools alone. */
  prober(mode: "legacy" | "auto", line = "one"): string[] {
    return ["--", process.execPath, PROBER, mode, line];
  }

  stop(): void {
    this.#upstream.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
