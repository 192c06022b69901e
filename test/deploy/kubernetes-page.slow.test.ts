/**
 * The commands of the page of Kubernetes, pasted in their order. No cluster is needed: what `kubectl` and `helm` can do without one
 * they do themselves, and what they would ask of a cluster is compared with the manifests.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blockOf, blocksOf } from "../helpers/documents.ts";
import { parse } from "../../src/cli/parse.ts";
import { loadConfig } from "../../src/config/load.ts";
import { COMMANDS } from "../helpers/commands.ts";
import { environmentIn } from "../helpers/environment.ts";
import { SECTIONS } from "../helpers/features.ts";
import { DEPLOY, localPod, ofKind, plainManifests, resourcesOf } from "../helpers/manifests.ts";

setDefaultTimeout(120_000);

const PAGE = ".github/deploy/kubernetes.md";
const kubectl = Bun.which("kubectl");
const helm = process.env["HELM"] ?? Bun.which("helm");

const folder = mkdtempSync(join(tmpdir(), "weir-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, lines: readonly string[]): void {
  const path = join(folder, "bin", name);
  writeFileSync(
    path,
    ["#!/bin/sh", "set -eu", `echo "${name} $*" >> "${folder}/ran"`, ...lines, ""].join("\n"),
  );
  chmodSync(path, 0o755);
}

test("each command is one that kubectl and helm take, and names what the manifests have", () => {
  if (!kubectl) return console.log("The commands were not run: there is no kubectl here.");
  mkdirSync(join(folder, "bin"));
  cpSync(DEPLOY, join(folder, ".github/deploy"), { recursive: true });
  program("kubectl", [
    `if [ "$1" = -n ]; then [ "$2" = llm ]; shift 2; fi`,
    `case "$1 $2 \${3-}" in`,
    `  "create namespace llm") exec ${kubectl} "$@" --dry-run=client -o name ;;`,
    `  "create secret generic") exec ${kubectl} "$@" --dry-run=client -o yaml > "${folder}/secret.yaml" ;;`,
    `  "apply -k"*) exec ${kubectl} kustomize "$3" > "${folder}/applied.yaml" ;;`,
    `  "rollout status deployment/weir" | "rollout restart deployment/weir") ;;`,
    `  "get secret weir") [ "$5" = "jsonpath={.data.admin-key}" ] || [ "$4 $5" = "-o jsonpath={.data.admin-key}" ]; sed -n 's/^  admin-key: //p' "${folder}/secret.yaml" | tr -d '\\n' ;;`,
    `  "port-forward service/weir-admin 9348") ;;`,
    `  *) echo "kubectl: unexpected $*" >&2; exit 1 ;;`,
    `esac`,
  ]);
  program("helm", [
    `[ "$1 $2" = "install weir" ] && [ -f "$3/Chart.yaml" ]`,
    ...(helm ? [`shift; exec ${helm} template "$@" > "${folder}/rendered.yaml"`] : []),
  ]);
  writeFileSync(join(folder, "weir-values.yaml"), blockOf(PAGE, "yml", "secret:").replace("OWNER", "owner"));
  const code = blocksOf(PAGE)
    .filter(({ language }) => language === "sh")
    .map((block) => block.code)
    .join("\n");
  const env = environmentIn(folder, { OPENAI_API_KEY: "sk-openai", DATABASE_PASSWORD: "secret" });
  const { exitCode, stdout, stderr } = Bun.spawnSync(["sh", "-euc", code], {
    cwd: folder,
    env: { ...env, PATH: `${join(folder, "bin")}:${env["PATH"]}` },
  });
  expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: "" });
  const [secret] = resourcesOf(readFileSync(join(folder, "secret.yaml"), "utf8"));
  const values = Object.fromEntries(
    Object.entries(secret!.data!).map(([name, text]) => [name, Buffer.from(text, "base64").toString()]),
  );
  expect(values["admin-key"]).toMatch(/^[0-9a-f]{64}$/);
  expect(values["store-url"]).toBe("postgres://weir:secret@postgres.example.com/weir");
  // What the page shows of the admin key is that key.
  expect(stdout.toString()).toContain(values["admin-key"]!);
  const applied = resourcesOf(readFileSync(join(folder, "applied.yaml"), "utf8"));
  const plain = [...plainManifests().values()].filter(({ kind }) => !/Monitor|Autoscaler|Ingress/.test(kind));
  expect(applied.map(({ kind }) => kind).sort()).toEqual(plain.map(({ kind }) => kind).sort());
  const services = applied.filter(({ kind }) => kind === "Service");
  expect(services.find(({ metadata }) => metadata.name === "weir-admin")!.spec.ports[0].port).toBe(9348);
  const ran = readFileSync(join(folder, "ran"), "utf8").trim().split("\n");
  expect(ran.length).toBe(8);
  if (!helm) return console.log("The chart was not rendered: there is no helm here (HELM names it).");
  const rendered = resourcesOf(readFileSync(join(folder, "rendered.yaml"), "utf8"));
  const config = ofKind(rendered, "ConfigMap").data!["weir.yaml"]!;
  for (const [, name] of config.matchAll(/secrets\/([\w-]+)\}/g))
    expect(Object.keys(values)).toContain(name!);
  expect(config).toContain("key-app");
});

test("with the values for people the chart has an ingress, and a config with which they sign in", () => {
  if (!helm) return console.log("The chart was not rendered: there is no helm here (HELM names it).");
  const files = ["secret:", "people:"].map((word) => {
    const file = join(folder, `${word.slice(0, -1)}-values.yaml`);
    writeFileSync(file, blockOf(PAGE, "yml", word).replace("OWNER", "owner"));
    return ["--values", file];
  });
  const command = [helm, "template", "weir", join(DEPLOY, "chart"), ...files.flat()];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: environmentIn(folder) });
  expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: "" });
  const resources = resourcesOf(stdout.toString());
  expect(ofKind(resources, "Ingress").spec.rules[0].host).toBe("weir.example.com");
  const secrets = { "admin-key": "a".repeat(32), "metrics-key": "m".repeat(32), "key-app": "k".repeat(32) };
  const others = {
    openai: "sk",
    okta: "s",
    tokens: "t".repeat(64),
    "store-url": "postgres://weir:s@db/weir",
  };
  const { args, env } = localPod(resources, mkdtempSync(join(folder, "pod-")), { ...secrets, ...others });
  const { flags } = parse(args, COMMANDS) as { flags: Record<string, string> };
  const { config } = loadConfig({ flags, env, cwd: folder, sections: SECTIONS });
  expect(config.admin).toMatchObject({ names: ["weir.example.com"] });
  expect(JSON.stringify(config)).toContain("corp.okta.com");
});
