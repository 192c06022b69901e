/** The example for Docker Compose agrees with weir and with its page: secrets, config, ports, and the time of a stop. */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseYaml } from "yaml";
import { parse } from "../../src/cli/parse.ts";
import { loadConfig } from "../../src/config/load.ts";
import { stopTimes } from "../../src/config/sections/stopping.ts";
import { COMMANDS } from "../helpers/commands.ts";
import { blockOf, ROOT } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";
import { SECTIONS } from "../helpers/features.ts";
import { DEPLOY } from "../helpers/manifests.ts";

interface Service {
  image: string;
  command: string[];
  secrets: string[];
  volumes: string[];
  ports: string[];
  stop_grace_period: string;
}

const compose = parseYaml(readFileSync(join(DEPLOY, "compose.yaml"), "utf8")) as {
  services: Record<"weir" | "postgres" | "caddy", Service>;
  secrets: Record<string, { file: string }>;
};
const { weir } = compose.services;
const written = readFileSync(join(DEPLOY, "compose/weir.yaml"), "utf8");

const folder = mkdtempSync(join(tmpdir(), "weir-compose-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the commands of the page that make the secrets. */
function makeSecrets(): string {
  const page = blockOf(".github/deploy/compose.md", "sh", "mkdir -m 0711 secrets");
  mkdirSync(join(folder, ".github/deploy"), { recursive: true });
  const env = environmentIn(folder, { OPENAI_API_KEY: "sk-openai" });
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-euc", page], { cwd: folder, env });
  expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: "" });
  return join(folder, ".github/deploy/secrets");
}

test("the page makes each secret that a service has, and weir accepts the config with them", () => {
  const secrets = makeSecrets();
  for (const [name, { file }] of Object.entries(compose.secrets)) {
    expect(file).toBe(`secrets/${name}`);
    expect([name, existsSync(join(secrets, name))]).toEqual([name, true]);
  }
  const read = [...written.matchAll(/\/run\/secrets\/([\w-]+)\}/g)].map(([, name]) => name!);
  expect([...new Set(read)].sort()).toEqual([...weir.secrets].sort());
  const file = join(folder, "weir.yaml");
  writeFileSync(file, written.replaceAll("/run/secrets", secrets));
  const dockerfile = readFileSync(join(ROOT, ".github/image/Dockerfile"), "utf8");
  const [, host] = /^ENV WEIR_HOST=(\S+)$/m.exec(dockerfile)!;
  const { config } = loadConfig({
    flags: { "--config": file },
    env: { WEIR_HOST: host },
    cwd: folder,
    sections: SECTIONS,
  });
  const { url } = config.store as unknown as { url: { reveal(): string } };
  expect(url.reveal()).toMatch(/^postgres:\/\/weir:[0-9a-f]{48}@postgres\/weir$/);
  const { delayMs, graceMs } = stopTimes(config);
  expect(parseInt(weir.stop_grace_period) * 1_000).toBeGreaterThan(delayMs + graceMs + 5_000);
  expect(weir.ports).toEqual([`127.0.0.1:9348:${(config.admin as { port: number }).port}`]);
  expect(config.watch).toBe("on");
});

test("the command is one of weir, its config is in a mounted folder, and its image has the version", () => {
  const { flags } = parse(weir.command, COMMANDS) as { flags: Record<string, string> };
  expect(weir.volumes).toContain("./compose:/etc/weir:ro");
  expect(flags["--config"]).toBe("/etc/weir/weir.yaml");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  expect(weir.image).toEndWith(`:${version}`);
  for (const [name] of compose.services.caddy.volumes.map((volume) => volume.split(":")))
    if (name!.startsWith("./")) expect(existsSync(join(DEPLOY, name!))).toBe(true);
});
