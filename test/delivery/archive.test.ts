/** Archives as the programs of this machine read them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archive } from "../../src/build/archive.ts";
import { checksums, sha256 } from "../../src/build/checksums.ts";
import { LINK } from "../../src/documents/markdown.ts";
import { commonFiles } from "../../src/build/contents.ts";
import type { PackedFile } from "../../src/build/file.ts";
import { SYSTEMS, archiveName, systemsOf } from "../../src/build/systems.ts";
import { tar } from "../../src/build/tar.ts";
import { assertTag } from "../../src/build/tag.ts";
import { readDocument, ROOT } from "../helpers/documents.ts";
import { VERSION } from "../../src/process/version.ts";

const SECONDS = Date.UTC(2026, 5, 7, 8, 9, 10) / 1000;
const BINARY = Buffer.from("#!/bin/sh\necho packed\n".repeat(100));
const OTHERS: PackedFile[] = [
  { path: "README.md", content: Buffer.from("read me") },
  { path: "share/man/man1/weir.1", content: Buffer.from(".TH WEIR 1\n") },
  { path: "empty", content: new Uint8Array() },
];

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "weir-archive-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in the folder of the test. @returns standard output */
function run(...command: string[]): string {
  const ran = Bun.spawnSync(command, { cwd: folder, env: { ...process.env, TZ: "UTC" } });
  expect(ran.stderr.toString()).toBe("");
  expect(ran.exitCode).toBe(0);
  return ran.stdout.toString();
}

test("the same files in another order give the same bytes", () => {
  for (const system of ["linux-x64", "windows-x64"] as const) {
    const one = archive(system, BINARY, OTHERS, SECONDS);
    expect(Buffer.compare(one, archive(system, BINARY, [...OTHERS].reverse(), SECONDS))).toBe(0);
    expect(Buffer.compare(one, archive(system, BINARY, OTHERS, SECONDS + 2))).not.toBe(0);
  }
});

test("gzip adds no time, name or system of its own", () => {
  const head = archive("linux-x64", BINARY, OTHERS, SECONDS).slice(0, 10);
  expect([...head.slice(0, 8)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
});

test("tar unpacks the archive with content, rights and times", () => {
  writeFileSync(join(folder, "weir.tar.gz"), archive("linux-x64", BINARY, OTHERS, SECONDS));
  run("tar", "-xzf", "weir.tar.gz");
  const at = join(folder, "weir-linux-x64");
  expect(readFileSync(join(at, "weir")).equals(BINARY)).toBe(true);
  expect(readFileSync(join(at, "share/man/man1/weir.1"), "utf8")).toBe(".TH WEIR 1\n");
  expect(statSync(join(at, "empty")).size).toBe(0);
  expect(statSync(join(at, "weir")).mode & 0o777).toBe(0o755);
  expect(statSync(join(at, "README.md")).mode & 0o777).toBe(0o644);
  expect(statSync(join(at, "weir")).mtimeMs).toBe(SECONDS * 1000);
  expect(run("tar", "-tvzf", "weir.tar.gz")).toMatch(/^drwxr-xr-x 0\/0 .* weir-linux-x64\/$/m);
});

test("unzip finds the archive for Windows whole, with content, rights and times", () => {
  if (!Bun.which("unzip")) return console.log("There is no unzip here: the zip archive was not unpacked.");
  writeFileSync(join(folder, "weir.zip"), archive("windows-x64", BINARY, OTHERS, SECONDS));
  expect(run("unzip", "-tq", "weir.zip")).toContain("No errors detected");
  run("unzip", "-q", "weir.zip");
  const at = join(folder, "weir-windows-x64");
  expect(readFileSync(join(at, "weir.exe")).equals(BINARY)).toBe(true);
  expect(statSync(join(at, "weir.exe")).mode & 0o777).toBe(0o755);
  expect(statSync(join(at, "weir.exe")).mtimeMs).toBe(SECONDS * 1000);
});

test("sha256sum accepts SHA256SUMS, and refuses it after a change", () => {
  if (!Bun.which("sha256sum")) return console.log("There is no sha256sum here: SHA256SUMS was not checked.");
  const digests = new Map<string, string>();
  for (const name of ["b", "a"]) {
    writeFileSync(join(folder, name), name);
    digests.set(name, sha256(Buffer.from(name)));
  }
  writeFileSync(join(folder, "SHA256SUMS"), checksums(digests));
  expect(run("sha256sum", "--check", "--strict", "SHA256SUMS")).toBe("a: OK\nb: OK\n");
  writeFileSync(join(folder, "a"), "changed");
  expect(Bun.spawnSync(["sha256sum", "--check", "SHA256SUMS"], { cwd: folder }).exitCode).toBe(1);
});

test("a path that a tar header cannot hold is refused instead of cut", () => {
  expect(() => tar([{ path: "x".repeat(101), content: BINARY }], SECONDS)).toThrow("100 bytes");
});

test("links of the README in an archive lead to the version in the repository, and to nothing without one", () => {
  const readme = (repository?: string) => {
    const file = commonFiles(ROOT, repository).find(({ path }) => path === "README.md")!;
    return Buffer.from(file.content!).toString();
  };
  expect(readme()).toBe(readDocument("README.md"));
  const linked = readme("some-one/weir");
  const targets = [...linked.matchAll(LINK)].map(([, , target]) => target!);
  expect(targets.length).toBeGreaterThan(20);
  const files = `https://github.com/some-one/weir/blob/v${VERSION}/`;
  for (const target of targets.filter((one) => !one.startsWith("#"))) {
    expect(target).toStartWith(files);
    expect(existsSync(join(ROOT, target.slice(files.length).split("#")[0]!))).toBe(true);
  }
});

test("there are seven systems, and an unknown one is named", () => {
  expect(new Set(SYSTEMS.map(archiveName)).size).toBe(7);
  expect(() => systemsOf(["linux-x64", "plan9"])).toThrow('Unknown system "plan9"');
});

test("a release under the tag of another version is refused", () => {
  expect(() => assertTag({ GITHUB_REF: `refs/tags/v${VERSION}` })).not.toThrow();
  expect(() => assertTag({ GITHUB_REF: "refs/heads/main" })).not.toThrow();
  expect(() => assertTag({ GITHUB_REF: "refs/tags/v99.0.0" })).toThrow(`has to be v${VERSION}`);
});
