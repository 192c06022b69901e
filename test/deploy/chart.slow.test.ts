/**
 * The chart, as helm renders it and as a validator with the schemas of Kubernetes judges it. Both are programs that a machine may
 * lack; HELM and KUBERNETES_VALIDATE name them, else they are looked for in PATH:
 *
 *   go install helm.sh/helm/v4/cmd/helm@v4.3.1
 *   pip install kubernetes-validate
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "../../src/cli/parse.ts";
import { loadConfig } from "../../src/config/load.ts";
import { COMMANDS } from "../helpers/commands.ts";
import { environmentIn } from "../helpers/environment.ts";
import { SECTIONS } from "../helpers/features.ts";
import { DEPLOY, localPod, ofKind, PLAIN, type Resource, resourcesOf } from "../helpers/manifests.ts";

setDefaultTimeout(120_000);

const CHART = join(DEPLOY, "chart");
const helm = process.env["HELM"] ?? Bun.which("helm");
const validator = process.env["KUBERNETES_VALIDATE"] ?? Bun.which("kubernetes-validate");
const missing = helm ? undefined : "there is no helm here (HELM names it)";

const folder = mkdtempSync(join(tmpdir(), "weir-chart-"));
afterAll(() => rmSync(folder, { recursive: true }));

function run(
  command: string[],
  env: Record<string, string> = {},
): { code: number; out: string; err: string } {
  const ran = Bun.spawnSync(command, { env: environmentIn(folder, env) });
  return { code: ran.exitCode, out: ran.stdout.toString(), err: ran.stderr.toString() };
}

let files = 0;

/** @param values of the chart besides a secret that exists */
function render(values: object): { code: number; out: string; err: string } {
  const file = join(folder, `values-${files++}.yaml`);
  writeFileSync(file, JSON.stringify({ secret: { existing: "weir" }, ...values }));
  return run([helm!, "template", "weir", CHART, "--namespace", "llm", "--values", file]);
}

const SECRETS = {
  "admin-key": "weir-test-admin-key-01",
  "metrics-key": "weir-test-metrics-key-01",
  "store-url": "postgres://weir:secret@postgres.example/weir",
  "key-app": "weir-test-app-key-0001",
  openai: "sk-openai",
};

const OWN = {
  admin: {
    names: ["console.example.com"],
    keys: [{ name: "eng", key: "weir-test-eng-key-0001", path: "/eng" }],
  },
};

/** What people set, and what the result must have. */
const VARIANTS: [string, object, (resources: Resource[]) => void][] = [
  ["nothing", {}, (all) => expect(all.map(({ kind }) => kind).sort()).toEqual(KINDS)],
  [
    "all that is optional",
    {
      replicas: 3,
      image: { repository: "registry.example.com:5000/team/weir", digest: `sha256:${"0".repeat(64)}` },
      config: {
        ...OWN,
        workers: 4,
        keys: [{ name: "app", key: "${file:../secrets/key-app}" }],
        providers: { openai: { apiKey: "${file:../secrets/openai}" } },
        budgets: { eng: { on: "/eng", every: "month", limit: 500, mode: "hard" } },
        store: { onLoss: "closed" },
      },
      serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
      autoscaling: { enabled: true, maxReplicas: 20 },
      networkPolicy: { from: [{ podSelector: {} }], adminFrom: [], egressPorts: [443] },
      service: { type: "LoadBalancer", annotations: { a: "b" } },
      env: [{ name: "HTTPS_PROXY", value: "http://proxy:3128" }],
      volumes: [{ name: "plugins", configMap: { name: "plugins" } }],
      volumeMounts: [{ name: "plugins", mountPath: "/etc/weir/plugins" }],
      tolerations: [{ key: "llm", operator: "Exists" }],
      nodeSelector: { disk: "ssd" },
      priorityClassName: "high",
      podAnnotations: { a: "b" },
    },
    (all) => {
      const { spec } = ofKind(all, "Deployment");
      expect(spec.replicas).toBeUndefined();
      expect(spec.template.spec.containers[0].image).toContain("/weir@sha256:");
      expect(ofKind(all, "HorizontalPodAutoscaler").spec.maxReplicas).toBe(20);
      expect(ofKind(all, "ServiceMonitor").metadata.labels).toMatchObject({ release: "prometheus" });
      expect(ofKind(all, "NetworkPolicy").spec.ingress.length).toBe(1);
    },
  ],
  [
    "a secret of the chart",
    { secret: { data: SECRETS } },
    (all) => expect(ofKind(all, "Secret").stringData).toEqual(SECRETS),
  ],
  [
    "one pod without a database",
    { replicas: 1, database: { enabled: false }, persistence: { storageClass: "fast" } },
    (all) => {
      expect(ofKind(all, "Deployment").spec.strategy).toEqual({ type: "Recreate" });
      expect(ofKind(all, "PersistentVolumeClaim").spec.storageClassName).toBe("fast");
      expect(all.some(({ kind }) => kind === "PodDisruptionBudget")).toBe(false);
    },
  ],
  [
    "long streams",
    { config: { workers: 2, graceMs: 600_000, stop: { delayMs: 15_000 } } },
    (all) => expect(ofKind(all, "Deployment").spec.template.spec.terminationGracePeriodSeconds).toBe(624),
  ],
  [
    "people who sign in from outside",
    {
      ingress: {
        enabled: true,
        people: true,
        host: "weir.example.com",
        tlsSecret: "tls",
        className: "nginx",
      },
    },
    (all) => {
      const [{ host, http }] = ofKind(all, "Ingress").spec.rules;
      const leadsTo = (path: string) =>
        http.paths
          .filter(
            (one: { path: string }) =>
              one.path === "/" || path === one.path || path.startsWith(`${one.path}/`),
          )
          .sort((a: { path: string }, b: { path: string }) => b.path.length - a.path.length)[0].backend
          .service.name;
      expect(host).toBe("weir.example.com");
      for (const path of [
        "/auth/callback/okta",
        "/console",
        "/admin/v1/me",
        "/device",
        "/oauth/authorize",
        "/scim/v2/Users",
      ])
        expect([path, leadsTo(path)]).toEqual([path, "weir-admin"]);
      for (const path of [
        "/v1/messages",
        "/oauth/token",
        "/managed/settings",
        "/.well-known/oauth-authorization-server",
      ])
        expect([path, leadsTo(path)]).toEqual([path, "weir"]);
      expect(ofKind(all, "ConfigMap").data!["weir.yaml"]).toContain("- weir.example.com");
    },
  ],
  [
    "TLS up to the pod",
    { config: { workers: 2, names: ["llm.example.com"] } },
    (all) =>
      expect(ofKind(all, "Deployment").spec.template.spec.containers[0].livenessProbe.httpGet.scheme).toBe(
        "HTTP",
      ),
  ],
];

const KINDS = [
  ...["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget"],
  ...["Service", "Service", "ServiceAccount"],
];

test("helm lint finds nothing", () => {
  if (missing) return console.log(`The chart was not judged: ${missing}.`);
  const { code, out, err } = run([helm!, "lint", "--strict", CHART, "--set", "secret.existing=weir"]);
  expect({ code, warned: /WARNING|ERROR/.test(out + err) }).toEqual({ code: 0, warned: false });
});

test.each(VARIANTS)(
  "with %s it renders valid resources and a config that weir accepts",
  (_, values, judge) => {
    if (missing) return console.log(`The chart was not judged: ${missing}.`);
    const { code, out, err } = render(values);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const resources = resourcesOf(out);
    judge(resources);
    const { args, env } = localPod(resources, mkdtempSync(join(folder, "pod-")), SECRETS);
    const { flags } = parse(args, COMMANDS) as { flags: Record<string, string> };
    const { config } = loadConfig({ flags, env, cwd: folder, sections: SECTIONS });
    expect(config.host).toBe("0.0.0.0");
    validate(out);
  },
);

function validate(text: string): void {
  if (!validator) return console.log("The resources were not judged: there is no kubernetes-validate here.");
  // Resources of operators are none of Kubernetes.
  const own = text
    .split(/^---$/m)
    .filter((part) => /^kind:/m.test(part) && !part.includes("kind: ServiceMonitor"));
  for (const [index, part] of own.entries()) {
    const file = join(folder, `resource-${index}.yaml`);
    writeFileSync(file, part);
    const { code, out, err } = run([validator, "--strict", file]);
    expect({ code, said: code === 0 ? "" : out + err }).toEqual({ code: 0, said: "" });
  }
}

test.each<[object, string]>([
  [{ secret: {} }, "secret.data has no admin-key"],
  [{ secret: { data: { "admin-key": "a", "metrics-key": "b" } } }, "secret.data has no store-url"],
  [{ database: { enabled: false } }, "each pod would have budgets of its own"],
  [{ ingress: { enabled: true } }, "ingress.host is the name"],
  [{ ingress: { enabled: true, host: "https://a" } }, "/ingress/host"],
  [{ config: { workers: 0 } }, "/config/workers"],
  [{ config: { workers: 2, port: 80 } }, "/config/port"],
  [{ config: { workers: 2, store: { url: "postgres://secret" } } }, "/config/store/url"],
  [{ config: { workers: 2, admin: { host: "::" } } }, "/config/admin"],
  [{ replicas: "two" }, "/replicas"],
  [{ replica: 2 }, "'replica' not allowed"],
  [{ image: { repository: "weir:latest" } }, "/image/repository"],
])("%j is refused", (values, says) => {
  if (missing) return console.log(`The chart was not judged: ${missing}.`);
  const { code, err } = render(values);
  expect(code).not.toBe(0);
  expect(err).toContain(says);
});

test("the plain manifests are those that the chart makes", () => {
  if (missing) return console.log(`The chart was not judged: ${missing}.`);
  const made = join(folder, "plain");
  expect(run([join(DEPLOY, "render.sh"), made], { HELM: helm! })).toEqual({ code: 0, out: "", err: "" });
  const names = (readdirSync(made, { recursive: true }) as string[]).filter((name) => name.endsWith(".yaml"));
  expect(names.length).toBe(10);
  for (const name of names)
    expect(`${name}\n${readFileSync(join(PLAIN, name), "utf8")}`).toBe(
      `${name}\n${readFileSync(join(made, name), "utf8")}`,
    );
});
