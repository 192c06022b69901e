/**
 * Shows real clients how weir fails a streamed answer, and a prompt that is too long, and prints what they do. The README
 * beside the folder says how to run it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { markdownTable } from "../../helpers/documents.ts";
import { chatChunk, messagesEvent, messagesText } from "../../helpers/event-streams.ts";
import { startGateway, upstreamConfig } from "../../helpers/gateway.ts";
import { type Answer, json, sse, startUpstream } from "../../helpers/upstream.ts";
import { install, runProgram, versionOf, writeFiles } from "../programs.ts";
import { CLIENTS, type JudgedClient } from "./clients.ts";

/** What a client may take for one case, its retries included. Milliseconds. */
const PATIENCE_MS = 180_000;

/** What the fake provider says when it fails. */
const SENTENCE = "the model fell over";

interface Upstream {
  /** A model that the gateway sends to it. */
  model: string;
  begun: readonly string[];
  rest: readonly string[];
  error: string;
  tooLong: Answer;
}

const HALVES = messagesText("Hello, this is half", " and whole.");

/** A provider of each format. */
const UPSTREAMS: readonly Upstream[] = [
  {
    model: "gpt-judge",
    begun: [chatChunk({ role: "assistant", content: "Hello, this is half" })],
    rest: [chatChunk({ content: " and whole." }), chatChunk({}, "stop"), "data: [DONE]\n\n"],
    error: `data: ${JSON.stringify({ error: { message: SENTENCE, type: "server_error", code: null } })}\n\n`,
    tooLong: json(
      {
        error: {
          message:
            "This model's maximum context length is 200000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages.",
          type: "invalid_request_error",
          code: "context_length_exceeded",
        },
      },
      400,
    ),
  },
  {
    model: "claude-judge",
    begun: HALVES.slice(0, 3),
    rest: HALVES.slice(3),
    error: messagesEvent("error", { error: { type: "overloaded_error", message: SENTENCE } }),
    tooLong: json(
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 250000 tokens > 200000 maximum",
        },
      },
      400,
    ),
  },
];

interface Case {
  name: string;
  answer(upstream: Upstream): Answer;
  /** What a client that has understood the case has in its output. */
  shows: RegExp;
  /** Whether it must end with a failure. */
  fails: boolean;
}

const CASES: readonly Case[] = [
  // A client that fails here is not set up, and its other rows say nothing.
  {
    name: "whole",
    answer: ({ begun, rest }) => sse([...begun, ...rest]),
    shows: /half and whole\./,
    fails: false,
  },
  { name: "cut", answer: ({ begun }) => sse(begun), shows: /ended before/, fails: true },
  {
    name: "error event",
    answer: ({ begun, error }) => sse([...begun, error]),
    shows: new RegExp(SENTENCE),
    fails: true,
  },
  {
    name: "too long",
    answer: ({ tooLong }) => tooLong,
    shows: /ContextWindowExceeded|context[\s-]window|prompt is too long|maximum context length/i,
    fails: true,
  },
];

const { values: options } = parseArgs({
  options: {
    folder: { type: "string" },
    only: { type: "string" },
    case: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "weir-judge-")));
const upstream = startUpstream(json({}));
const gateway = await startGateway({
  target: "source",
  config: {
    ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
    aliases: { "gpt-judge": "openai/m", "claude-judge": "anthropic/m" },
    // Every call that the upstream counts is then one of the client.
    retries: { attempts: 1 },
  },
});

try {
  const asked = CLIENTS.filter(({ name }) => name.toLowerCase().includes((options.only ?? "").toLowerCase()));
  const rows: string[][] = [];
  for (const client of asked) {
    const place = join(folder, client.environment);
    const version = await installClient(client, place);
    for (const provider of UPSTREAMS)
      for (const asCase of CASES) {
        if (options.case && options.case !== asCase.name) continue;
        const row = [
          client.name,
          version,
          provider.model,
          asCase.name,
          ...(await judge(client, place, provider, asCase)),
        ];
        console.error(row.join(" | "));
        rows.push(row);
      }
  }
  console.log(
    markdownTable(["client", "version", "model", "case", "ends with", "says why", "calls", "seconds"], rows),
  );
} finally {
  await gateway.stop();
  upstream.stop();
  if (!options.folder) await rm(folder, { recursive: true, force: true });
}

/** Runs a client once. @returns how it ended, whether it showed the reason, its calls, and how long it took */
async function judge(
  client: JudgedClient,
  place: string,
  provider: Upstream,
  asCase: Case,
): Promise<string[]> {
  upstream.answer(() => asCase.answer(provider));
  const before = upstream.requests.length;
  const home = await mkdtemp(join(tmpdir(), "weir-judge-home-"));
  const { files = {}, ...program } = client.run({ folder: place, url: gateway.url, model: provider.model });
  await writeFiles(home, files);
  // The SDKs look for their packages from here.
  const cwd = client.environment === "npm" && program.command[0] === "node" ? place : home;
  const ran = await runProgram(program, { home, cwd, patience: PATIENCE_MS });
  await rm(home, { recursive: true, force: true });
  // Some break their lines.
  const said = ran.said.replace(/\s+/g, " ");
  if (options.verbose)
    console.error(`--- ${client.name}, ${provider.model}, ${asCase.name}\n${said.trim()}\n---`);
  const isRight = (ran.code !== 0) === asCase.fails;
  return [
    `${ran.code}${isRight ? "" : " (!)"}`,
    asCase.shows.test(said) ? "yes" : "no",
    String(upstream.requests.length - before),
    ran.seconds.toFixed(1),
  ];
}

/** Installs the environment of a client unless it is there. @returns the version of the client */
async function installClient({ environment, package: spec }: JudgedClient, place: string): Promise<string> {
  const packages = CLIENTS.filter((client) => client.environment === environment).map(
    (client) => client.package,
  );
  const installer = environment === "npm" ? "npm" : "python";
  await install(installer, place, [...new Set(packages)]);
  return versionOf(installer, place, spec);
}
