/** The GitHub Action, with the files and variables of a runner. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { parse } from "yaml";
import { sdkVariables } from "../../src/cli/clients/sdk.ts";
import { archive } from "../../src/build/archive.ts";
import { checksums, sha256 } from "../../src/build/checksums.ts";
import { archiveName, SYSTEMS } from "../../src/build/systems.ts";
import { VERSION } from "../../src/process/version.ts";
import { PROGRAM, runCommand } from "../helpers/command.ts";
import { ROOT } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";

setDefaultTimeout(120_000);

const ACTION = join(ROOT, ".github/actions/weir");

interface Metadata {
  inputs: Record<string, { description: string; default?: string }>;
  outputs: Record<string, unknown>;
  runs: { using: string; main: string; post: string; "post-if": string };
}
const { inputs, outputs, runs } = parse(readFileSync(join(ACTION, "action.yml"), "utf8")) as Metadata;

let folder: string;
let count = 0;
/** Weir as one file, for the input `executable`. */
let executable: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-action-"));
  executable = join(folder, "weir");
  const words = PROGRAM.map((word) => `'${word}'`).join(" ");
  writeFileSync(executable, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
});

const jobs: Job[] = [];

afterAll(() => {
  for (const job of jobs) job.kill();
  rmSync(folder, { recursive: true, force: true });
});

const FILES = ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_PATH"] as const;

/** One job: the runner's files, and its steps. */
class Job {
  readonly folder = join(folder, `job-${count++}`);
  readonly #env: Record<string, string>;

  constructor(given: Record<string, string>, env: Record<string, string> = {}) {
    jobs.push(this);
    mkdirSync(this.folder);
    for (const name of FILES) writeFileSync(join(this.folder, name), "");
    const values = Object.entries(inputs).map(([name, input]) => [name, given[name] ?? input.default ?? ""]);
    this.#env = environmentIn(this.folder, {
      RUNNER_TEMP: this.folder,
      ...Object.fromEntries(values.map(([name, value]) => [`INPUT_${name!.toUpperCase()}`, value!])),
      ...Object.fromEntries(FILES.map((name) => [name, join(this.folder, name)])),
      ...env,
    });
  }

  /** The lines of a file of the runner. */
  told(file: (typeof FILES)[number]): Record<string, string> {
    const lines = readFileSync(join(this.folder, file), "utf8").trim().split("\n");
    return Object.fromEntries(
      lines.filter(Boolean).map((line) => [line.split("=")[0]!, line.slice(line.indexOf("=") + 1)]),
    );
  }

  /** Ends a gateway that a failed test has left. */
  kill(): void {
    const { pid } = this.told("GITHUB_STATE");
    try {
      if (pid !== undefined) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  async run(script: string): Promise<{ code: number; out: string }> {
    const state = Object.entries(this.told("GITHUB_STATE")).map(([name, value]) => [`STATE_${name}`, value]);
    const child = Bun.spawn([Bun.which("node")!, join(ACTION, script)], {
      cwd: this.folder,
      env: { ...this.#env, ...(Object.fromEntries(state) as Record<string, string>) },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    return { out: await new Response(child.stdout).text(), code: await child.exited };
  }
}

/** A request of a later step, which has the variables of the runner's file. */
async function ask(job: Job, content: string) {
  const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = job.told("GITHUB_ENV");
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  return await client.chat.completions.create({ model: "mock/echo", messages: [{ role: "user", content }] });
}

test("the mock answers the steps of the job, and the end of the job stops it", async () => {
  const job = new Job({ executable });
  expect(await job.run(runs.main)).toEqual({ code: 0, out: expect.stringContaining("weir listens on") });
  const { url } = job.told("GITHUB_OUTPUT");
  expect((await ask(job, "hello")).choices[0]!.message.content).toBe("hello");
  expect(readFileSync(join(job.folder, "GITHUB_PATH"), "utf8")).toBe(`${folder}\n`);
  const ended = await job.run(runs.post);
  expect(ended.code).toBe(0);
  expect(ended.out).toContain("::group::Log of weir");
  expect(ended.out).toContain('"model":"mock/echo"');
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

test("later steps get the variables that weir gives to every client", async () => {
  const job = new Job({ executable });
  await job.run(runs.main);
  const { url = "" } = job.told("GITHUB_OUTPUT");
  await job.run(runs.post);
  const all = sdkVariables({ url, key: "weir", folder: "", user: {} });
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  expect(job.told("GITHUB_ENV")).toEqual(Object.fromEntries(set) as Record<string, string>);
  expect(Object.keys(job.told("GITHUB_OUTPUT"))).toEqual(Object.keys(outputs));
});

/** A tape with one call. */
async function makeTape(): Promise<string> {
  const tape = join(folder, "one.tape");
  const script = `curl -s "$OPENAI_BASE_URL/chat/completions" -H 'content-type: application/json' -d '{"model":"mock/echo","messages":[{"role":"user","content":"hello"}]}'`;
  const { code } = await runCommand(["record", tape, "--", "sh", "-c", script], { cwd: folder });
  expect(code).toBe(0);
  return tape;
}

test("a tape answers, and the job fails with the difference if a request is not on it", async () => {
  const tape = await makeTape();
  const good = new Job({ executable, tape });
  expect((await good.run(runs.main)).code).toBe(0);
  expect((await ask(good, "hello")).choices[0]!.message.content).toBe("hello");
  expect((await good.run(runs.post)).code).toBe(0);

  const bad = new Job({ executable, tape });
  await bad.run(runs.main);
  await expect(ask(bad, "::error::bye")).rejects.toThrow("has no answer to this request");
  expect((await ask(bad, "hello")).choices[0]!.message.content).toBe("hello");
  const { code, out } = await bad.run(runs.post);
  expect(code).toBe(1);
  expect(
    out.match(/^::error title=weir::The tape .*%0A-   \| hello%0A\+   \| ::error::bye%0A/gm),
  ).toHaveLength(1);
  // What the log quotes is no command: commands are stopped until the token stands alone.
  const [, token] = /^::stop-commands::(\S+)$/m.exec(out)!;
  expect(out.indexOf(`::${token}::\n::endgroup::`)).toBeGreaterThan(out.indexOf("+   | ::error::bye\n"));
});

test("the job fails if weir ended before it", async () => {
  const job = new Job({ executable });
  await job.run(runs.main);
  const { url } = job.told("GITHUB_OUTPUT");
  process.kill(Number(job.told("GITHUB_STATE")["pid"]), "SIGKILL");
  while (
    await fetch(`${url}/health`).then(
      () => true,
      () => false,
    )
  )
    await Bun.sleep(20);
  const { code, out } = await job.run(runs.post);
  expect(code).toBe(1);
  expect(out).toContain("::error title=weir::weir ended before the job did");
});

test("a wrong config fails the step with what weir says, and leaves no process", async () => {
  const job = new Job({ executable, config: "weir.yaml" });
  writeFileSync(join(job.folder, "weir.yaml"), "prot: 1\n");
  const { code, out } = await job.run(runs.main);
  expect(code).toBe(1);
  expect(out).toMatch(/^::error title=weir::weir ended with exit code 78:.*prot/m);
  expect(await job.run(runs.post)).toEqual({ code: 0, out: "" });
});

test("a config and a port reach the gateway", async () => {
  const free = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = String(free.port);
  await free.stop(true);
  const job = new Job({ executable, config: "own.yaml", port });
  writeFileSync(join(job.folder, "own.yaml"), "aliases:\n  short: mock/echo\nstate: none\n");
  await job.run(runs.main);
  const { url } = job.told("GITHUB_OUTPUT");
  const listed = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
  await job.run(runs.post);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect(listed.data.map(({ id }) => id)).toContain("short");
});

test("without an executable, it installs the version of the action from the releases of its repository", async () => {
  const program = await Bun.file(executable).bytes();
  // The executable of a release answers --version like the one of the sources.
  const files = new Map(SYSTEMS.map((system) => [archiveName(system), archive(system, program, [], 0)]));
  const sums = checksums(new Map([...files].map(([name, bytes]) => [name, sha256(bytes)])));
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      asked.push(pathname);
      const name = pathname.split("/").at(-1)!;
      const content = name === "SHA256SUMS" ? sums : files.get(name);
      return new Response(content, { status: content ? 200 : 404 });
    },
  });
  const releases = {
    GITHUB_SERVER_URL: server.url.origin,
    GITHUB_ACTION_REPOSITORY: "some-one/weir",
    GITHUB_REPOSITORY: "other/project",
  };
  const job = new Job({}, releases);
  expect((await job.run(runs.main)).code).toBe(0);
  expect((await ask(job, "hello")).choices[0]!.message.content).toBe("hello");
  expect((await job.run(runs.post)).code).toBe(0);
  expect(asked[0]).toBe(`/some-one/weir/releases/download/v${VERSION}/SHA256SUMS`);
  const absent = await new Job({ version: "9.9.9" }, releases).run(runs.main);
  await server.stop(true);
  expect(absent.code).toBe(1);
  expect(absent.out).toContain("::error title=weir::Version 9.9.9 of weir could not be installed");
});

test("action.yml names files that exist, and describes every input", () => {
  expect(runs).toEqual({ using: "node24", main: "main.mjs", post: "post.mjs", "post-if": "always()" });
  for (const { description } of Object.values(inputs)) expect(description).toEndWith(".");
  const source = readFileSync(join(ACTION, "main.mjs"), "utf8");
  const read = [...source.matchAll(/input\("(\w+)"\)/g)].map(([, name]) => name!);
  expect([...new Set(read)].sort()).toEqual(Object.keys(inputs).sort());
});
