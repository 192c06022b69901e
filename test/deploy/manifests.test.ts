/** The plain manifests for Kubernetes agree with weir: its config, its command line, its ports and the times of its stop. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseYaml } from "yaml";
import { parse } from "../../src/cli/parse.ts";
import { loadConfig } from "../../src/config/load.ts";
import { adminKeysOf } from "../../src/config/sections/operator.ts";
import { stopTimes } from "../../src/config/sections/stopping.ts";
import { COMMANDS } from "../helpers/commands.ts";
import { readDocument, ROOT } from "../helpers/documents.ts";
import { SECTIONS } from "../helpers/features.ts";
import { DEPLOY, localPod, ofKind, PLAIN, plainManifests } from "../helpers/manifests.ts";

const manifests = plainManifests();
const resources = [...manifests.values()];
const folder = mkdtempSync(join(tmpdir(), "weir-manifests-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRETS = {
  "admin-key": "weir-test-admin-key-01",
  "metrics-key": "weir-test-metrics-key-01",
  "store-url": "postgres://weir:secret@postgres.example/weir",
};
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const { template, replicas } = ofKind(resources, "Deployment").spec;
const pod = template.spec;
const [container] = pod.containers;

function load() {
  const { args, env } = localPod(resources, mkdtempSync(join(folder, "pod-")), SECRETS);
  const { flags } = parse(args, COMMANDS) as { flags: Record<string, string> };
  return loadConfig({ flags, env, cwd: folder, sections: SECTIONS }).config;
}

test("the config map is a config that weir accepts, with its keys and the database from the secret", () => {
  const config = load();
  expect(config).toMatchObject({ host: "0.0.0.0", port: 9347, cluster: true, watch: "on" });
  const { url } = config.store as unknown as { url: { reveal(): string } };
  expect(url.reveal()).toBe(SECRETS["store-url"]);
  expect(adminKeysOf(config).map(({ key: { name, role } }) => [name, role])).toEqual([
    ["admin", "admin"],
    ["metrics", "read"],
  ]);
});

test("ports and probes are those of the config, and the image has the version of the repository", () => {
  const config = load();
  const ports = container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [
    name,
    containerPort,
  ]);
  expect(Object.fromEntries(ports)).toEqual({
    http: config.port,
    admin: config.admin === "off" ? undefined : config.admin.port,
  });
  for (const name of ["startupProbe", "readinessProbe", "livenessProbe"])
    expect(container[name].httpGet).toMatchObject({ path: "/health", port: "http" });
  expect(container.image).toEndWith(`:${version}`);
  const chart = parseYaml(readFileSync(join(DEPLOY, "chart/Chart.yaml"), "utf8"));
  expect([chart.version, chart.appVersion]).toEqual([version, version]);
});

test("the whole stop ends before Kubernetes kills the pod, and needs no program that the image lacks", () => {
  const { delayMs, graceMs } = stopTimes(load());
  expect(delayMs).toBeGreaterThan(0);
  expect(delayMs + graceMs + 4_000).toBeLessThan(pod.terminationGracePeriodSeconds * 1_000 - 4_000);
  expect(JSON.stringify(pod)).not.toContain("exec");
  expect(container.command).toBeUndefined();
});

test("the pod runs without root, writes to its volumes only, and has what a change of the config needs", () => {
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532 });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(pod.automountServiceAccountToken).toBe(false);
  for (const mount of container.volumeMounts) expect(mount.subPath).toBeUndefined();
  const writable = container.volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => !readOnly);
  expect(writable.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(["/data", "/tmp"]);
  const dockerfile = readFileSync(join(ROOT, ".github/image/Dockerfile"), "utf8");
  expect(dockerfile).toContain(`USER ${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`);
});

test("services, monitor, policy and budget of disruptions choose the pods", () => {
  const labels = template.metadata.labels as Record<string, string>;
  const chosen = [
    ofKind(resources, "Deployment").spec.selector.matchLabels,
    ...resources.filter(({ kind }) => kind === "Service").map(({ spec }) => spec.selector),
    ofKind(resources, "PodDisruptionBudget").spec.selector.matchLabels,
    ofKind(resources, "NetworkPolicy").spec.podSelector.matchLabels,
  ];
  expect(chosen.length).toBe(5);
  for (const selector of chosen) expect(labels).toMatchObject(selector);
  expect(replicas).toBeGreaterThan(ofKind(resources, "PodDisruptionBudget").spec.maxUnavailable);
  const monitor = ofKind(resources, "ServiceMonitor").spec;
  const watched = resources.filter(
    ({ kind, metadata }) =>
      kind === "Service" &&
      Object.entries(monitor.selector.matchLabels).every(
        ([name, value]) => metadata.labels?.[name] === value,
      ),
  );
  expect(watched.map(({ metadata }) => metadata.name)).toEqual(["weir-admin"]);
  expect(watched[0]!.spec.ports[0].name).toBe(monitor.endpoints[0].port);
  const { scaleTargetRef, metrics } = ofKind(resources, "HorizontalPodAutoscaler").spec;
  expect(scaleTargetRef.name).toBe(ofKind(resources, "Deployment").metadata.name);
  expect(readDocument("src/admin/README.md")).toContain(`\`${metrics[0].pods.metric.name}\``);
});

test("the secret that the page makes has what the pods and the monitor read", () => {
  const made = new Set(
    [...readDocument(".github/deploy/kubernetes.md").matchAll(/--from-literal=([\w-]+)=/g)].map(
      ([, name]) => name,
    ),
  );
  const read = [...ofKind(resources, "ConfigMap").data!["weir.yaml"]!.matchAll(/secrets\/([\w-]+)\}/g)].map(
    ([, name]) => name!,
  );
  const { name, key } = ofKind(resources, "ServiceMonitor").spec.endpoints[0].authorization.credentials;
  expect(pod.volumes.find((volume: { name: string }) => volume.name === "secrets").secret.secretName).toBe(
    name,
  );
  for (const wanted of [...read, key]) expect(made).toContain(wanted);
  expect(read.length).toBe(3);
});

test("kustomization.yaml has each manifest of its folder", () => {
  const { resources: listed } = parseYaml(readFileSync(join(PLAIN, "kustomization.yaml"), "utf8"));
  const files = readdirSync(PLAIN).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml");
  expect([...listed].sort()).toEqual(files.sort());
});
