/** Everything the README says is run here; its option table is made from the schema (`UPDATE=1 bun test` rewrites it). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { COMMANDS } from "../src/cli/commands.ts";
import { synopsis } from "../src/cli/help.ts";
import { loadConfig } from "../src/config/load.ts";
import { listOptions } from "../src/config/schema.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { makeMatrix } from "./helpers/matrix.ts";

const ROOT = resolve(import.meta.dir, "..");
const README = join(ROOT, "README.md");
const text = await Bun.file(README).text();

/** The fenced blocks of a language, in order. */
function blocks(language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    (match) => match[1]!,
  );
}

let gateway: RunningGateway;

beforeAll(async () => {
  const plugin = blocks("ts").find((block) => block.includes("definePlugin"))!;
  gateway = await startGateway({ plugins: { "acme.ts": plugin }, env: { ACME_API_KEY: "k" } });
});

afterAll(() => gateway.stop());

const here = (code: string) => code.replaceAll("http://127.0.0.1:9347", gateway.url);

/** Runs a snippet inside the repository, so that it finds the SDKs. */
async function runSnippet(code: string): Promise<string> {
  const file = join(ROOT, "test", `.snippet-${crypto.randomUUID()}.ts`);
  await Bun.write(file, here(code));
  try {
    const run = Bun.spawn([process.execPath, file], { stdout: "pipe", stderr: "pipe" });
    const [output, errors] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ]);
    expect(errors).toBe("");
    return output;
  } finally {
    await Bun.file(file).delete();
  }
}

test("the curl streams from the mock", async () => {
  const curl = blocks("sh").find((block) => block.startsWith("curl"))!;
  const run = Bun.spawn(["sh", "-c", here(curl)], { stdout: "pipe", stderr: "ignore" });
  const output = await new Response(run.stdout).text();
  expect(output).toContain('"object":"chat.completion.chunk"');
  expect(output).toEndWith("data: [DONE]\n\n");
});

test("both SDK snippets print the mock's answer", async () => {
  const snippets = blocks("ts").filter((block) => block.includes('apiKey: "unused"'));
  expect(snippets.length).toBe(2);
  for (const snippet of snippets) expect(await runSnippet(snippet)).toContain("Hello");
});

test("the rehearsal gets all its answers from a provider that fails every third time", async () => {
  const snippet = blocks("ts").find((block) => block.includes("mock/flaky-30"))!;
  const said = await runSnippet(snippet);
  expect(said.trim().split("\n").length).toBe(10);
  expect(said).not.toContain("undefined");
}, 60_000);

test("the table of the mock's models is made from them", async () => {
  const { mockModels } = await import("../plugins/mock/models.ts");
  const rows = mockModels.map(({ name, example, description }) => {
    const shown = example ? ` (\`mock/${example}\`)` : "";
    return `| \`mock/${name}\`${shown} | ${description} |`;
  });
  await checkPart("mock", ["| model | what it does |", "| --- | --- |", ...rows].join("\n"));
});

test("the plugin is the 13-line one, and loads", async () => {
  const plugin = blocks("ts").find((block) => block.includes("definePlugin"))!;
  expect(plugin.trim().split("\n").length).toBeLessThanOrEqual(13);
  const response = await fetch(`${gateway.url}/v1/models/${encodeURIComponent("acme/x")}`);
  expect(((await response.json()) as { owned_by: string }).owned_by).toBe("acme");
});

test("the commands are scripts of package.json", async () => {
  const { scripts } = (await Bun.file(join(ROOT, "package.json")).json()) as {
    scripts: Record<string, string>;
  };
  const named = [...text.matchAll(/\bbun run ([a-z]+)/g)].map((match) => match[1]!);
  expect(named.length).toBeGreaterThan(3);
  for (const name of [...named, "start", "test", "check", "build", "conformance"])
    expect(scripts[name]).toBeString();
});

test("the config example is valid", async () => {
  const folder = gateway.folder;
  await Bun.write(join(folder, "example.yaml"), blocks("yaml")[0]!);
  const env = { MY_OPENAI_KEY: "sk-something-long" };
  const { config } = loadConfig({ flags: { "--config": "example.yaml" }, env, cwd: folder });
  expect(config.keys.map((key) => key.name)).toEqual(["alice"]);
  expect(config.aliases).toEqual({ fast: "openai/gpt-5.4-nano" });
});

test("the dead first provider: the second one answers, with the headers that are shown", async () => {
  const yaml = blocks("yaml").find((block) => block.includes("routes:"))!;
  const demo = await startGateway({ config: Bun.YAML.parse(yaml) as Record<string, unknown> });
  try {
    const curl = blocks("sh").find((block) => block.includes("curl -i"))!;
    const command = curl.replaceAll("http://127.0.0.1:9347", demo.url);
    const run = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "ignore" });
    const seen = await new Response(run.stdout).text();
    const shown = blocks("").find((block) => block.includes("x-weir-tried"))!;
    for (const header of shown.trim().split("\n")) expect(seen.replace(/\d+ms/g, "1ms")).toContain(header);
  } finally {
    await demo.stop();
  }
});

test("the models it names for rehearsing failures exist", async () => {
  const names = [...text.matchAll(/`mock\/([a-z0-9-]+)`/g)].map((match) => match[1]!);
  expect(names.length).toBeGreaterThan(12);
  const { findBehaviour } = await import("../plugins/mock/models.ts");
  for (const name of names) expect(() => findBehaviour(name)).not.toThrow();
});

test("the files to read exist", async () => {
  const named = [...text.matchAll(/`((?:src|plugins)\/[\w./-]+\.ts)`/g)].map((match) => match[1]!);
  for (const file of named) expect(await Bun.file(join(ROOT, file)).exists()).toBe(true);
});

/** The program runs in a tree that has nothing but what the Dockerfile copies. */
test("the image has what the binary links against, and nobody is root", () => {
  const dockerfile = blocks("dockerfile")[0]!;
  expect(dockerfile).toContain("USER 65532");
  const copies = [...dockerfile.matchAll(/^COPY (?:--from=\w+ )?(\S+)/gm)].map((match) => match[1]!);
  // Of the base image nothing is copied by name: an image without that file would not build.
  for (const path of copies) expect(path).toMatch(/^(dist\/weir-linux-(x64|arm64)|\/weir|\/image)$/);
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  const image = mkdtempSync(join(tmpdir(), "weir-image-"));
  try {
    const collect = /^RUN mkdir \/image && (.*)$/m.exec(dockerfile)![1]!;
    const command = collect.replaceAll("/weir", process.execPath).replaceAll("/image", image);
    expect(Bun.spawnSync(["sh", "-c", command]).exitCode).toBe(0);
    copyFileSync(process.execPath, join(image, "weir"));
    const run = Bun.spawnSync(["chroot", image, "/weir", "--version"]);
    expect([run.stdout.toString().trim(), run.stderr.toString()]).toEqual([Bun.version, ""]);
  } finally {
    rmSync(image, { recursive: true });
  }
}, 60_000);

test("the systemd unit stops, restarts and reloads as weir does, and is locked down", () => {
  const unit = blocks("ini")[0]!;
  for (const line of [
    // Workers are stopped by their supervisor.
    "KillMode=mixed",
    // The exit code of a config that is wrong.
    "RestartPreventExitStatus=78",
    "ExecReload=/usr/local/bin/weir reload",
    // Where `weir reload` finds the gateway, whose /tmp is its own.
    "RuntimeDirectory=weir",
    "PrivateTmp=yes",
  ])
    expect(unit).toContain(`\n${line}\n`);
  // JavaScript is compiled while it runs.
  expect(unit).not.toContain("MemoryDenyWriteExecute");
  if (!Bun.which("systemd-analyze")) return;
  const folder = mkdtempSync(join(tmpdir(), "weir-unit-"));
  try {
    const file = join(folder, "weir.service");
    writeFileSync(file, unit.replaceAll("/usr/local/bin/weir", process.execPath));
    const verified = Bun.spawnSync(["systemd-analyze", "verify", file]);
    expect(verified.stderr.toString()).not.toContain("weir.service");
    const judged = Bun.spawnSync(["systemd-analyze", "security", "--offline=true", "--threshold=20", file]);
    expect(judged.exitCode).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

test("the option table is the schema's", async () => {
  const rows = listOptions().map(({ path, schema }) => {
    const places = [schema["x-flag"], schema["x-env"]].filter(Boolean).map((word) => `\`${word}\``);
    const fallback = schema["default"] === undefined ? "" : `\`${JSON.stringify(schema["default"])}\``;
    return `| \`${path.join(".")}\` | ${places.join(" ")} | ${fallback} | ${schema.description ?? ""} |`;
  });
  const table = [
    "| option | flag, variable | default | meaning |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
  await checkPart("options", table);
});

test("the command table is that of the command line", async () => {
  const rows = COMMANDS.map((command) => {
    const flags = command.flags.map(({ name, value }) => `\`${[name, value].filter(Boolean).join(" ")}\``);
    return `| \`weir ${synopsis(command)}\` | ${command.summary} | ${flags.join(" ")} |`;
  });
  await checkPart(
    "commands",
    ["| command | what it does | flags |", "| --- | --- | --- |", ...rows].join("\n"),
  );
});

test("the matrix is what the code does", async () => {
  await checkPart("matrix", await makeMatrix());
});

test("weir explain takes the request the README shows", async () => {
  const command = blocks("sh").find((block) => block.includes("weir explain"))!;
  const run = Bun.spawn(
    ["sh", "-c", command.replace("weir explain", `"${process.execPath}" "${ROOT}/src/main.ts" explain`)],
    {
      env: { PATH: process.env["PATH"] ?? "", ANTHROPIC_API_KEY: "k" },
      cwd: gateway.folder,
      stdout: "pipe",
    },
  );
  const { losses } = JSON.parse(await new Response(run.stdout).text()) as { losses: unknown };
  expect(losses).toMatchObject([{ code: "dropped", path: "temperature" }]);
});

/** A part of the README that is made by code; spaces and dashes of its tables are the formatter's. */
async function checkPart(name: string, made: string): Promise<void> {
  const before = await Bun.file(README).text();
  const marks = new RegExp(`<!-- ${name} -->.*<!-- /${name} -->`, "s");
  expect(before).toMatch(marks);
  const wanted = before.replace(marks, () => `<!-- ${name} -->\n\n${made}\n\n<!-- /${name} -->`);
  const squeezed = (markdown: string) => markdown.replace(/[ -]{2,}/g, (run) => run[0]!);
  if (process.env["UPDATE"] === "1") await Bun.write(README, wanted);
  else expect(squeezed(before)).toBe(squeezed(wanted));
}
