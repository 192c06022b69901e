/** A release of this machine's executable: made twice, installed from a server on loopback, and used. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../helpers/commands.ts";
import { SYSTEMS, archiveName } from "../../src/build/systems.ts";
import { VERSION } from "../../src/process/version.ts";
import { ROOT } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";

setDefaultTimeout(600_000);

const FOLDER = join(ROOT, "dist/release");
const SYSTEM = SYSTEMS.find((system) => system === `${process.platform}-${process.arch}`)!;
const ARCHIVE = archiveName(SYSTEM);

let folder: string;
let sums: string;

/** @returns SHA256SUMS of the release */
async function makeRelease(...more: string[]): Promise<string> {
  const made = Bun.spawnSync([process.execPath, join(ROOT, "src/build/release.ts"), SYSTEM, ...more], {
    cwd: folder,
    env: { ...environmentIn(folder), SOURCE_DATE_EPOCH: "1780000000" },
  });
  expect(made.stderr.toString()).toBe("");
  expect(made.exitCode).toBe(0);
  return Bun.file(join(FOLDER, "SHA256SUMS")).text();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-release-"));
  sums = await makeRelease();
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the release has the archive, the bill of materials, the install script and their checksums", () => {
  expect(readdirSync(FOLDER).sort()).toEqual(["SHA256SUMS", "install.sh", ARCHIVE, "weir.cdx.json"]);
  const program = Bun.which("sha256sum") ? ["sha256sum"] : ["shasum", "-a", "256"];
  const check = Bun.spawnSync([...program, "--check", "SHA256SUMS"], { cwd: FOLDER });
  expect(check.stdout.toString()).toBe(`install.sh: OK\n${ARCHIVE}: OK\nweir.cdx.json: OK\n`);
});

test("a second build and release have the same bytes", async () => {
  expect(await makeRelease()).toBe(sums);
});

test("the install script installs it into an empty home, and the executable answers", async () => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(Bun.file(join(FOLDER, new URL(url).pathname.slice(1)))),
  });
  const home = join(folder, "home");
  mkdirSync(home);
  const child = Bun.spawn(["sh", "-s"], {
    cwd: home,
    env: environmentIn(home, { WEIR_DOWNLOAD_URL: server.url.href, WEIR_VERSION: VERSION }),
    stdin: Bun.file(join(FOLDER, "install.sh")),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await server.stop(true);
  expect({ code: await child.exited, err }).toEqual({ code: 0, err: "" });
  const program = join(home, ".local/bin/weir");
  expect(out).toContain(`Installed weir ${VERSION} as ${program}`);
  const help = Bun.spawnSync([program, "--help"], { cwd: home, env: environmentIn(home) });
  expect(help.stdout.toString()).toContain(`weir ${VERSION}`);
});

test("the archive has the license, the README, the manual page and the completion scripts", () => {
  const unpacked = Bun.spawnSync(["tar", "-xzf", join(FOLDER, ARCHIVE)], { cwd: folder });
  expect(unpacked.exitCode).toBe(0);
  const at = join(folder, ARCHIVE.replace(".tar.gz", ""));
  expect(readdirSync(at, { recursive: true }).sort()).toEqual([
    "LICENSE",
    "README.md",
    "share",
    "share/bash-completion",
    "share/bash-completion/completions",
    "share/bash-completion/completions/weir",
    "share/fish",
    "share/fish/vendor_completions.d",
    "share/fish/vendor_completions.d/weir.fish",
    "share/man",
    "share/man/man1",
    "share/man/man1/weir.1",
    "share/powershell",
    "share/powershell/weir.ps1",
    "share/zsh",
    "share/zsh/site-functions",
    "share/zsh/site-functions/_weir",
    "weir",
  ]);
  const parsers = [
    ["bash", "-n", "share/bash-completion/completions/weir"],
    ["zsh", "-n", "share/zsh/site-functions/_weir"],
    ["fish", "--no-execute", "share/fish/vendor_completions.d/weir.fish"],
  ].filter(([name]) => Bun.which(name!));
  for (const command of parsers) {
    const parsed = Bun.spawnSync(command, { cwd: at, env: environmentIn(folder) });
    expect([command[0], parsed.exitCode, parsed.stderr.toString()]).toEqual([command[0], 0, ""]);
  }
});

test("the executable prints the manual page and the completion scripts of its archive", async () => {
  const at = join(folder, ARCHIVE.replace(".tar.gz", ""));
  const printed = (...args: string[]) =>
    Bun.spawnSync([join(at, "weir"), ...args], { cwd: folder, env: environmentIn(folder) }).stdout.toString();
  const page = await Bun.file(join(at, "share/man/man1/weir.1")).text();
  expect(printed("man")).toBe(page);
  for (const { name } of COMMANDS) expect(page).toContain(`.SS weir ${name}`);
  const bash = await Bun.file(join(at, "share/bash-completion/completions/weir")).text();
  expect(printed("completion", "bash")).toBe(bash);
});
