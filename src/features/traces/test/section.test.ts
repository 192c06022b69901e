/** The section `traces`: from the file, from the variables of OpenTelemetry, and what is refused. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { maskText } from "../../../config/mask-text.ts";
import { loadConfig } from "../../../config/load.ts";
import { optionsWith } from "../../../config/schema.ts";
import { settingsOf, startLinesOf, tracesSection } from "../section.ts";

const SECTIONS = [tracesSection];

function load(config: unknown, env: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "weir-config-"));
  try {
    writeFileSync(join(cwd, "weir.yaml"), JSON.stringify(config));
    return loadConfig({ env, cwd, sections: SECTIONS }).config;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

const sentBy = (config: unknown, env?: Record<string, string>) => settingsOf(load(config, env));

function refusal(config: unknown, env?: Record<string, string>): string {
  try {
    load(config, env);
    return "";
  } catch (fault) {
    return (fault as Error).message;
  }
}

test("nothing is sent without the section", () => {
  expect([sentBy({}), startLinesOf(load({}))]).toEqual([undefined, []]);
});

test("the path of OTLP is added, unless the path is that of traces", () => {
  const urlOf = (to: string) => sentBy({ traces: { to } })!.url;
  expect(urlOf("http://127.0.0.1:4318")).toBe("http://127.0.0.1:4318/v1/traces");
  expect(urlOf("https://host.example/otlp/")).toBe("https://host.example/otlp/v1/traces");
  expect(urlOf("https://host.example/api/v0.2/traces")).toBe("https://host.example/api/v0.2/traces");
});

test("metrics are sent to the collector of the traces, if the config says so", () => {
  const urlOf = (to: string) => sentBy({ traces: { to }, metrics: { otlp: true } })!.metricsUrl;
  expect(urlOf("http://127.0.0.1:4318")).toBe("http://127.0.0.1:4318/v1/metrics");
  expect(urlOf("https://host.example/otlp/v1/traces")).toBe("https://host.example/otlp/v1/metrics");
  expect(sentBy({ traces: { to: "http://h" } })!.metricsUrl).toBeUndefined();
  expect(refusal({ metrics: { otlp: true } })).toContain("otlp needs traces.to");
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://h" };
  expect(refusal({ metrics: { otlp: true } }, env)).toBe("");
});

test("the variables of OpenTelemetry name the collector, its headers and the service", () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://otlp.example",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc%3D, x-scope=a=b",
    OTEL_SERVICE_NAME: "edge",
  };
  expect(sentBy({}, env)).toEqual({
    url: "https://otlp.example/v1/traces",
    headers: { authorization: "Basic abc=", "x-scope": "a=b" },
    share: 1,
    parent: "respect",
    service: "edge",
  });
  expect(JSON.stringify(load({}, env))).not.toContain("abc");
  expect(refusal({}, { ...env, OTEL_EXPORTER_OTLP_HEADERS: "nonsense-canary" })).not.toContain("canary");
  expect(refusal({}, { ...env, OTEL_EXPORTER_OTLP_HEADERS: "nonsense-canary" })).toContain("name=value");
  expect(refusal({}, { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" })).toContain(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  );
});

test("in the text of a config its secrets are hidden, however they are written", () => {
  const written = {
    traces: { to: "http://h", headers: { "x-token": "header-canary" } },
    providers: { openai: { apiKey: "sk-canary", headers: { "x-org": "org-canary" } } },
  };
  const text = JSON.stringify(written);
  const hidden = maskText(text, { configs: [load(written)] });
  expect(hidden).not.toContain("canary");
  expect(hidden).toContain('"traces":{"to":"http://h","headers":{"x-token":"***"}}');
});

test("a header is hidden in the text of a config that is not loaded", () => {
  const { file: schema } = optionsWith(SECTIONS);
  const written = "traces:\n  to: http://c:4318\n  headers: {x-key: canary}\n";
  expect(maskText(written, { schema })).toBe("traces:\n  to: http://c:4318\n  headers: {x-key: ***}\n");
});

test("the start table names the origin of the collector", () => {
  const config = load({ traces: { to: "https://host.example/canary/traces" } });
  expect(startLinesOf(config)).toEqual(["traces: to https://host.example"]);
});

test("mistakes stop the start with a sentence that names the option and no secret", () => {
  expect(refusal({ traces: { to: "127.0.0.1:4318" } })).toMatch(/^weir\.yaml:1: .*traces\.to|to /);
  expect(refusal({ traces: { to: "http://h", share: 2 } })).toContain("share");
  expect(refusal({ traces: { to: "http://h", headers: { "content-length": "1" } } })).toContain(
    "content-length",
  );
});
