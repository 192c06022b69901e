/** Optional files: a missing one is left out, one that exists and cannot be reached stops the start. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../src/config/error.ts";
import { loadConfig } from "../../src/config/load.ts";
import { loadPlugins } from "../../src/external-plugins/discover.ts";

const root = mkdtempSync(join(tmpdir(), "weir-unreadable-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function folder(name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  return path;
}

function refusal(cwd: string, flags: Record<string, string> = {}): string {
  try {
    loadConfig({ flags, env: {}, cwd });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  return "the config was loaded";
}

test("a config file that is a link to itself stops the start", () => {
  const cwd = folder("loop");
  symlinkSync("weir.yaml", join(cwd, "weir.yaml"));
  expect(refusal(cwd)).toBe("weir.yaml: the config file cannot be read (its symbolic links form a loop).");
});

test("a config file that is a link to nothing stops the start", () => {
  const cwd = folder("dangling");
  symlinkSync("nothing.yaml", join(cwd, "weir.yaml"));
  expect(refusal(cwd)).toBe("weir.yaml: the config file cannot be read (there is no such file).");
});

test("a config file below something that is no folder stops the start", () => {
  const cwd = folder("not-a-folder");
  writeFileSync(join(cwd, "file"), "");
  expect(refusal(join(cwd, "file"))).toContain("a part of its path is not a folder");
  expect(refusal(cwd, { "--config": "file/weir.yaml" })).toContain("a part of its path is not a folder");
});

test("a config file in a folder that is closed to the user stops the start", async () => {
  const cwd = folder("closed");
  writeFileSync(join(cwd, "weir.yaml"), "keys: [first-secret-canary-1]\n");
  chmodSync(cwd, 0o000);
  chmodSync(root, 0o755);
  // Permissions do not hold for root: the child gives its rights up.
  const code = `
    const { loadConfig } = await import(${JSON.stringify(join(import.meta.dir, "../../src/config/load.ts"))});
    if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
    try { console.log(loadConfig({ env: {}, cwd: ${JSON.stringify(cwd)} }).config.keys.length); }
    catch (error) { console.log(error.message); }`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  chmodSync(cwd, 0o700);
  expect(said).toBe("weir.yaml: weir cannot check whether this file exists (permission denied).\n");
}, 600_000);

test("a plugin folder that cannot be read stops the start; a missing one does not", async () => {
  const cwd = folder("plugins-loop");
  expect(refusal(cwd)).toBe("the config was loaded");
  symlinkSync("plugins", join(cwd, "plugins"));
  expect(refusal(cwd)).toContain("its symbolic links form a loop");
  expect(refusal(cwd, { "--plugins": "plugins" })).toContain("its symbolic links form a loop");
  const load = loadPlugins({ dir: join(cwd, "plugins"), allow: [], loadMs: 1000 });
  await expect(load).rejects.toThrow("its symbolic links form a loop");
});

test("a file where the plugin folder is looked for stops the start", () => {
  const cwd = folder("plugins-file");
  writeFileSync(join(cwd, "plugins"), "");
  expect(refusal(cwd)).toContain("dir must be a folder, but there is no folder at");
});
