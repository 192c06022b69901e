/** Codecs of plugin files that were written when a codec was one flat object. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInFormats } from "../../src/run/formats.ts";
import type { Format } from "../../src/core/format.ts";
import { declarationFault } from "../../src/external-plugins/declaration.ts";
import { loadPlugins } from "../../src/external-plugins/discover.ts";
import { unflatten } from "../../src/external-plugins/flat-codecs.ts";
import { runCommand } from "../helpers/command.ts";
import { makeContext } from "../helpers/codec-context.ts";
import tiny from "../formats/tiny/tiny.ts";

// A command is a process of its own.
setDefaultTimeout(120_000);

/** A codec as plugins had it before: the members of all values beside each other. */
function flat(codec: object): object {
  const { framing, models, ...members } = Object.assign({}, ...Object.values(codec)) as {
    framing?: { lines?: boolean };
    models?: object;
  };
  const { lines, ...framed } = framing ?? {};
  const isUpstream = "native" in codec;
  return {
    ...members,
    ...framed,
    ...(lines !== undefined && { streamsLines: lines }),
    ...(models && (isUpstream ? models : { models })),
  };
}

/** A format without the tables of its texts, which no plugin has. */
function publicPart(format: Format): Format {
  const { client } = format;
  if (!client?.facts.places) return format;
  const { request, answer, event, stopped } = client.facts.places;
  const places = { request, answer, event, stopped };
  return { ...format, client: { ...client, facts: { ...client.facts, places } } };
}

test("every codec of weir, flattened, has its values again", () => {
  const formats = [...builtInFormats({ systemTurns: "accept" }), ...tiny.formats!].map(publicPart);
  const flattened = formats.map(({ id, client, upstream }) => ({
    id,
    ...(client && { client: flat(client) }),
    ...(upstream && { upstream: flat(upstream) }),
  }));
  const { exported, notices } = unflatten({ name: "old", formats: flattened });
  expect(declarationFault(exported)).toBeUndefined();
  const shape = (value: unknown) =>
    JSON.stringify(value, (_, each: unknown) => (typeof each === "function" ? "function" : each));
  const sorted = (codec: object | undefined) =>
    codec && Object.fromEntries(Object.entries(codec).map(([name, value]) => [name, sortKeys(value)]));
  const read = (exported as { formats: typeof formats }).formats;
  for (const [index, { client, upstream }] of formats.entries()) {
    expect(shape(sorted(read[index]!.client))).toBe(shape(sorted(client)));
    expect(shape(sorted(read[index]!.upstream))).toBe(shape(sorted(upstream)));
  }
  expect(notices).toHaveLength(
    formats.filter(({ client }) => client).length + formats.filter(({ upstream }) => upstream).length,
  );
});

function sortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sortKeys(member)]),
  );
}

test("codecs with values stay as they are", () => {
  const { exported, notices } = unflatten(tiny);
  expect(exported).toBe(tiny);
  expect(notices).toEqual([]);
});

/** A function reads another member by `this`. */
const OLD = `import { definePlugin, GatewayError } from "weir";
export default definePlugin({
  name: "acme",
  formats: [{
    id: "tongue",
    upstream: {
      encodeRequest(request) { return { model: request.model, header: this.requestHeaders[0] }; },
      readStream() { throw new GatewayError("upstream", "No streams."); },
      readAnswer() { return []; },
      decodeError(status) { return new GatewayError("upstream", "status " + status); },
      watch: { marks: [], frame() {}, answer() {} },
      factsIn() { return { contextWindow: 7 }; },
      requestHeaders: ["x-tongue"],
      answerHeaders: [],
    },
  }],
  providers: [{ name: "acme", models: ["acme/*"], speaks: { tongue: "/say" }, baseUrl: "http://127.0.0.1:9", apiKey: "ACME_API_KEY" }],
});
`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-flat-"));
  mkdirSync(join(folder, "plugins"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("weir loads a flat codec, and weir check names the plugin and the values to write instead", async () => {
  const dir = join(folder, "plugins");
  writeFileSync(join(dir, "acme.ts"), OLD);
  const { plugins, broken } = await loadPlugins({ dir, allow: [], loadMs: 60_000 });
  expect(broken).toEqual([]);
  const { upstream } = plugins[0]!.plugin.formats![0]!;
  const request = {
    model: "m",
    turns: [],
    tools: [],
    stop: [],
    stream: false,
    style: {},
    extra: {},
    ownFields: {},
  };
  expect(upstream!.codec.encodeRequest(request, makeContext())).toEqual({ model: "m", header: "x-tongue" });
  expect(upstream!.address.models!.factsIn!({})).toEqual({ contextWindow: 7 });
  const { code, out, err } = await runCommand(["check", "--offline", "--json"], { cwd: folder });
  expect(code).toBe(0);
  const { warnings } = JSON.parse(out) as { warnings: string[] };
  const write =
    "upstream: { address: { requestHeaders, answerHeaders, models: { factsIn } }, " +
    "codec: { encodeRequest, readStream, readAnswer, decodeError }, native: { watch } }";
  const found = warnings.find((warning) => warning.includes("tongue"));
  expect(found).toStartWith("the plugin acme (");
  expect(found).toEndWith(
    `acme.ts): the upstream codec of the format tongue is one flat object; write ${write}. This release still reads it, the next one does not.`,
  );
  expect(err).toContain(write);
});

test("a member that no codec has is refused in a flat codec, too", async () => {
  const dir = join(folder, "plugins");
  writeFileSync(join(dir, "acme.ts"), OLD.replace("answerHeaders", "answerHeadres"));
  const { broken } = await loadPlugins({ dir, allow: [], loadMs: 60_000 });
  expect(broken[0]!.message).toContain("answerHeadres is unknown");
});
