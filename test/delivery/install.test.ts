/** The install script against a server on loopback, in the shells that this machine has. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archive } from "../../src/build/archive.ts";
import { checksums, sha256 } from "../../src/build/checksums.ts";
import { installScript } from "../../src/build/install-script.ts";
import type { System } from "../../src/build/systems.ts";
import { archiveName, SYSTEMS } from "../../src/build/systems.ts";
import { environmentIn } from "../helpers/environment.ts";
import { ROOT } from "../helpers/documents.ts";

setDefaultTimeout(120_000);

const SCRIPT = join(ROOT, ".github/install.sh");

/** Commands that start a POSIX shell; the first argument behind them is the script. */
const SHELLS = [["sh"], ["dash"], ["bash"], ["busybox", "sh"], ["zsh", "--emulate", "sh"]].filter(
  ([name]) => Bun.which(name!) !== null,
);

/** A program that prints a version, as the executable does, and the system that it was packed for. */
const programOf = (system: System, version = "1.2.3") =>
  `#!/bin/sh\ncase "$1" in --version) echo ${version} ;; *) echo ${system} ;; esac\n`;

const archives = new Map(
  SYSTEMS.map((system) => [
    archiveName(system),
    archive(system, Buffer.from(programOf(system)), [], 1_000_000_000),
  ]),
);
const sums = checksums(new Map([...archives].map(([name, bytes]) => [name, sha256(bytes)])));

/** Folders of the server: what each does to the files of the release. */
const FOLDERS: Record<string, (name: string) => Uint8Array<ArrayBuffer> | string | undefined> = {
  good: (name) => (name === "SHA256SUMS" ? sums : archives.get(name)),
  changed: (name) => {
    if (name === "SHA256SUMS") return sums;
    const changed = Uint8Array.from(archives.get(name)!);
    changed[40]! ^= 1;
    return changed;
  },
  truncated: (name) => (name === "SHA256SUMS" ? sums : archives.get(name)!.slice(0, 100)),
  unlisted: (name) => (name === "SHA256SUMS" ? sums.replaceAll("weir-linux", "other") : archives.get(name)),
  "no-sums": (name) => (name === "SHA256SUMS" ? undefined : archives.get(name)),
  broken: (name) => {
    const system = SYSTEMS.find((one) => archiveName(one) === name) ?? "linux-x64";
    const bytes = archive(system, Buffer.from("#!/bin/sh\necho no library >&2; exit 127\n"), [], 0);
    return name === "SHA256SUMS" ? sumsOfBroken() : bytes;
  },
};

function sumsOfBroken(): string {
  const names = SYSTEMS.map(archiveName);
  return checksums(new Map(names.map((name) => [name, sha256(FOLDERS["broken"]!(name) as Uint8Array)])));
}

let server: Bun.Server<undefined>;
let folder: string;
let homes = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-install-"));
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const [, kind = "", name = ""] = new URL(url).pathname.split("/");
      const content = FOLDERS[kind]?.(name);
      return content === undefined ? new Response("not here", { status: 404 }) : new Response(content);
    },
  });
});

afterAll(async () => {
  await server?.stop(true);
  if (folder) rmSync(folder, { recursive: true, force: true });
});

interface Run {
  shell?: readonly string[];
  from?: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** Files of `PATH` before all others: scripts by name. */
  programs?: Record<string, string>;
  /** The only programs of `PATH`, instead of those of this machine. */
  only?: readonly string[];
  home?: string;
}

/** What the script needs besides a shell, a downloader and a program for SHA-256. */
const TOOLS = [
  "uname",
  "mkdir",
  "mktemp",
  "rm",
  "mv",
  "sed",
  "cut",
  "grep",
  "gzip",
  "tar",
  "cat",
  "getconf",
  "ldd",
];

async function install({
  shell = ["sh"],
  from = "good",
  args = [],
  env,
  programs = {},
  only,
  home,
}: Run = {}) {
  const own = home ?? join(folder, `home-${homes++}`);
  const bin = join(own, "stubs");
  mkdirSync(bin, { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    await Bun.write(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  for (const name of only ?? []) if (!programs[name]) symlinkSync(Bun.which(name)!, join(bin, name));
  const [command, ...before] = shell;
  const child = Bun.spawn([Bun.which(command!)!, ...before, SCRIPT, ...args], {
    cwd: own,
    env: {
      ...environmentIn(own),
      PATH: only ? bin : `${bin}:${process.env["PATH"]}`,
      WEIR_DOWNLOAD_URL: new URL(from, server.url).href,
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err, home: own, program: join(own, ".local/bin/weir") };
}

/** Runs the installed program, which prints the system that it was packed for. */
const systemIn = (program: string) => Bun.spawnSync([program]).stdout.toString().trim();

const uname = (os: string, machine: string) => ({
  uname: `if [ "$1" = -s ]; then echo ${os}; else echo ${machine}; fi`,
});

/** `getconf` of a system with glibc, and of one without. */
const GLIBC = { getconf: 'case "$1" in GNU_LIBC_VERSION) echo glibc 2.36 ;; LONG_BIT) echo 64 ;; esac' };
const MUSL = {
  getconf: '[ "$1" = LONG_BIT ] && echo 64',
  ldd: "echo musl libc '(x86_64)' >&2; exit 1",
};

describe.each(SHELLS.map((shell) => [shell.join(" "), shell] as const))("%s", (_, shell) => {
  test("installs the archive of this machine into ~/.local/bin of an empty home", async () => {
    const { code, out, err, home, program } = await install({ shell });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`Installed weir 1.2.3 as ${program}. To remove it: rm ${program}`);
    expect(out).toContain("is not in PATH");
    expect(SYSTEMS as readonly string[]).toContain(systemIn(program));
    expect(readdirSync(join(home, ".local/bin"))).toEqual(["weir"]);
  });

  for (const from of ["changed", "truncated"])
    test(`refuses an archive that is ${from}, and keeps the executable that is there`, async () => {
      const { home } = await install({ shell });
      const { code, err, program } = await install({ shell, from, home });
      expect(code).toBe(1);
      expect(err).toContain("weir was not installed");
      expect(err).toContain("has the SHA-256");
      expect(systemIn(program)).not.toBe("");
      expect(readdirSync(join(home, ".local/bin"))).toEqual(["weir"]);
    });
});

test("this machine has the shells that users of Linux have", () => {
  expect(SHELLS.length).toBeGreaterThan(0);
});

test.each([
  ["Linux", "x86_64", GLIBC, "linux-x64"],
  ["Linux", "aarch64", GLIBC, "linux-arm64"],
  ["Linux", "x86_64", MUSL, "linux-x64-musl"],
  ["Linux", "arm64", MUSL, "linux-arm64-musl"],
  ["Darwin", "arm64", {}, "darwin-arm64"],
  ["Darwin", "x86_64", { sysctl: "echo 0" }, "darwin-x64"],
  ["Darwin", "x86_64", { sysctl: "echo 1" }, "darwin-arm64"],
] as const)("chooses the archive for %s on %s: %#", async (os, machine, more, system) => {
  const { code, err, program } = await install({ programs: { ...uname(os, machine), ...more } });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(systemIn(program)).toBe(system);
});

test.each([
  [uname("FreeBSD", "amd64"), "there is no executable for FreeBSD"],
  [uname("MINGW64_NT-10.0", "x86_64"), "unpack weir-windows-x64.zip"],
  [uname("Linux", "riscv64"), "there is no executable for riscv64"],
  [{ ...uname("Linux", "x86_64"), getconf: "echo 32" }, "this system is of 32 bits"],
])("names what is not supported: %#", async (programs, message) => {
  const { code, err, home } = await install({ programs });
  expect(code).toBe(1);
  expect(err).toContain(message);
  expect(existsSync(join(home, ".local"))).toBe(false);
});

test.each([
  ["unlisted", "SHA256SUMS of the release has no line for"],
  ["no-sums", "could not download"],
  ["absent", "could not download"],
])("installs nothing from a release that is %s", async (from, message) => {
  const { code, err, program } = await install({ from });
  expect(code).toBe(1);
  expect(err).toContain(message);
  expect(existsSync(program)).toBe(false);
});

test("an executable that does not start here does not replace the one that does", async () => {
  const { home } = await install();
  const { code, err, program } = await install({ from: "broken", home });
  expect(code).toBe(1);
  expect(err).toContain("the executable does not start: no library");
  expect(systemIn(program)).not.toBe("");
});

test("on musl, it names the library that an executable which does not start needs", async () => {
  const { err } = await install({ from: "broken", programs: { ...uname("Linux", "x86_64"), ...MUSL } });
  expect(err).toContain("apk add libstdc++");
});

const HASHES = ["sha256sum", "shasum", "openssl"].filter((name) => Bun.which(name));
const LOADERS = ["curl", "wget"].filter((name) => Bun.which(name));

test.each(HASHES)("checks with %s where it is the only program for SHA-256", async (hash) => {
  const perl = hash === "shasum" ? ["perl", "env"] : [];
  const only = [...TOOLS, "curl", hash, ...perl, "sh"];
  expect((await install({ only })).code).toBe(0);
  expect((await install({ only, from: "changed" })).err).toContain("has the SHA-256");
});

test("refuses to install without a program for SHA-256", async () => {
  const { code, err } = await install({ only: [...TOOLS, "curl", "sh"] });
  expect(code).toBe(1);
  expect(err).toContain("so the archive cannot be checked");
});

test.each(LOADERS)("downloads with %s", async (loader) => {
  const only = [...TOOLS, loader, "sha256sum", "sh"];
  const { code, err } = await install({ only });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect((await install({ only, from: "absent" })).err).toContain("could not download");
});

test("says that a downloader is absent", async () => {
  const { code, err } = await install({ only: [...TOOLS, "sha256sum", "sh"] });
  expect(code).toBe(1);
  expect(err).toContain("neither curl nor wget is installed");
});

test("installs to the folder of --dir and of WEIR_INSTALL_DIR, also with spaces and a relative path", async () => {
  const named = await install({ args: ["--dir", "my programs/bin"] });
  expect(existsSync(join(named.home, "my programs/bin/weir"))).toBe(true);
  const by = join(folder, "by variable");
  expect((await install({ env: { WEIR_INSTALL_DIR: by, HOME: "" } })).code).toBe(0);
  expect(existsSync(join(by, "weir"))).toBe(true);
});

test("without a home and a folder, it asks for a folder", async () => {
  const { code, err } = await install({ env: { HOME: "" } });
  expect(code).toBe(1);
  expect(err).toContain("Name a folder with --dir");
});

test("refuses a folder that is a file, and a target that is a folder", async () => {
  const file = await install({ args: ["--dir", "/dev/null/bin"] });
  expect(file.err).toContain("cannot create /dev/null/bin");
  const home = join(folder, "occupied");
  mkdirSync(join(home, ".local/bin/weir"), { recursive: true });
  expect((await install({ home })).err).toContain("is a folder");
});

test("refuses a download that is another version than the one it was asked for", async () => {
  expect((await install({ args: ["--version", "v1.2.3"] })).code).toBe(0);
  expect((await install({ env: { WEIR_VERSION: "1.2.3" } })).code).toBe(0);
  const { code, err, program } = await install({ args: ["--version=1.2.4"] });
  expect(code).toBe(1);
  expect(err).toContain("the download is version 1.2.3, not 1.2.4");
  expect(existsSync(program)).toBe(false);
});

test("says which argument is wrong", async () => {
  expect((await install({ args: ["--prefix", "x"] })).err).toContain("unknown argument --prefix");
  expect((await install({ args: ["--dir"] })).err).toContain("--dir needs a value");
  const help = await install({ args: ["--help"] });
  expect([help.code, help.out]).toEqual([0, expect.stringContaining("Usage: install.sh")]);
});

test("the script of a release downloads from its repository", async () => {
  const script = join(folder, "released.sh");
  await Bun.write(script, installScript(ROOT, "some-one/weir"));
  const asked = join(folder, "asked");
  const curl = `for last; do :; done; echo "$last" >> ${asked}; exit 22`;
  for (const args of [[], ["--version", "1.2.3"]]) {
    const run = await installFrom(script, args, curl);
    expect(run).toContain("could not download");
  }
  expect((await Bun.file(asked).text()).trim().split("\n")).toEqual([
    "https://github.com/some-one/weir/releases/latest/download/SHA256SUMS",
    "https://github.com/some-one/weir/releases/download/v1.2.3/SHA256SUMS",
  ]);
  expect(() => installScript(ROOT, 'x"; rm -rf /')).toThrow("OWNER/NAME");
});

test("the script of the sources says that it knows no repository", async () => {
  const { code, err } = await install({ env: { WEIR_DOWNLOAD_URL: "" } });
  expect(code).toBe(1);
  expect(err).toContain("this copy of the script knows no repository");
});

test("a part of the script does nothing", async () => {
  const text = await Bun.file(SCRIPT).text();
  const lines = text.split("\n");
  const home = join(folder, "partial");
  mkdirSync(home);
  for (let count = 1; count < lines.length - 1; count += 7) {
    const part = lines.slice(0, count).join("\n");
    Bun.spawnSync(["sh"], { cwd: home, env: environmentIn(home), stdin: Buffer.from(part) });
  }
  expect(readdirSync(home)).toEqual([]);
  expect(lines.at(-2)).toBe('main "$@"');
});

/** Runs a script with a program of its own for `curl`. @returns standard error */
async function installFrom(script: string, args: readonly string[], curl: string): Promise<string> {
  const home = join(folder, `home-${homes++}`);
  mkdirSync(join(home, "stubs"), { recursive: true });
  await Bun.write(join(home, "stubs/curl"), `#!/bin/sh\n${curl}\n`);
  chmodSync(join(home, "stubs/curl"), 0o755);
  const env = { ...environmentIn(home), PATH: `${join(home, "stubs")}:${process.env["PATH"]}` };
  return Bun.spawnSync(["sh", script, ...args], { cwd: home, env }).stderr.toString();
}
