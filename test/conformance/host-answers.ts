/** Replays recorded answers of Google's and Amazon's formats to clients of the other formats, who must read the same. */
import { seedOf, type Chunking, type Recording } from "../helpers/recordings.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { ASK, sentenceOf, UNSAID, type Client, type Outcome } from "./clients.ts";
import {
  answerOf,
  HOSTS,
  hostsConfig,
  hostPlugins,
  reachedBy,
  type Expected,
  type AnswerApi,
} from "./hosts.ts";
import { eachOf } from "./native.ts";
import { noModels } from "./plain-answer.ts";
import { startReplayed } from "./plant.ts";
import { differentSaid } from "./said.ts";
import { chatVendorsPlugin, recordedProviders } from "./vendors.ts";

export interface HostReplay {
  recording: Recording;
  /** Why the client must get an error, or the request must be refused; absent if it must be carried. */
  refused?: string;
  faults: string[];
}

/** Replays each recording once in each chunking. */
export async function replayHostAnswers(
  api: AnswerApi,
  list: readonly Recording[],
  client: Client,
  chunkings: readonly Chunking[] = ["event", "random"],
): Promise<HostReplay[]> {
  const host = HOSTS[api];
  const answers = new Map<string, { recording: Recording; chunking: Chunking }>();
  const upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const found = answers.get(reachedBy(request).mark);
    return found
      ? answerOf(api, found.recording, found.chunking)
      : json({ error: { code: 501, message: "no recording has this model", status: "UNIMPLEMENTED" } }, 501);
  });
  const gateway = await startReplayed({
    target: "source",
    config: {
      providers: { ...recordedProviders(upstream.url), ...hostsConfig(upstream.url) },
      log: { level: "error", format: "json" },
      retries: { attempts: 1 },
      timeouts: { heartbeatMs: 600_000 },
    },
    plugins: { ...hostPlugins(upstream.url), "shipped.ts": chatVendorsPlugin(upstream.url) },
  });
  let serial = seedOf(api) % 1000;
  const replay = async (recording: Recording, expected: Expected, chunking: Chunking): Promise<string[]> => {
    const mark = `-x${serial++}`;
    answers.set(mark, { recording, chunking });
    const outcome = await ASK[client](gateway.url, host.model(recording) + mark, host.isStream(recording));
    return judge(recording, expected, client, outcome).map((fault) => `(${chunking}) ${fault}`);
  };
  try {
    return await eachOf(list, async (recording) => {
      const expected = await host.expected(recording);
      const faults: string[] = [];
      for (const chunking of host.isStream(recording) ? chunkings : chunkings.slice(0, 1))
        faults.push(...(await replay(recording, expected, chunking)));
      return { recording, faults, ...("refused" in expected && { refused: expected.refused }) };
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

function judge(recording: Recording, expected: Expected, client: Client, outcome: Outcome): string[] {
  if ("said" in expected) {
    if ("failed" in outcome) return [`the client got an error: ${outcome.failed.slice(0, 300)}`];
    return [...outcome.faults, ...differentSaid(expected.said, outcome.said, UNSAID[client])];
  }
  if (!("failed" in outcome))
    return SEVERAL.test(expected.refused) ? [] : [`the client got an answer in spite of ${expected.refused}`];
  const { status, body = "" } = recording.response;
  if (status === 200) return [];
  const isSpent = client === "messages" && status === 429 && /PerDay/.test(body);
  const wanted = isSpent ? 402 : (CLIENT_STATUS[status] ?? status);
  const faults = outcome.status === wanted ? [] : [`status ${outcome.status}, not ${wanted}`];
  const words = expected.words ?? sentenceOf(body).slice(0, 40);
  return wanted === 502 || outcome.failed.includes(words)
    ? faults
    : [...faults, `the error lost "${words}": ${outcome.failed}`];
}

/** Choices that a client of another format did not ask for; it gets the first. */
const SEVERAL = /^several choices/;

/** weir's own credential is no affair of the client. */
const CLIENT_STATUS: Readonly<Record<number, number>> = { 401: 502, 402: 502, 403: 502, 500: 502, 529: 503 };

/** A line with the sums, one for each reason of an error, and one for each fault. */
export function describeHostReplays(title: string, replays: readonly HostReplay[]): string[] {
  const good = replays.filter(({ faults }) => faults.length === 0);
  const reasons = Map.groupBy(
    good.filter(({ refused }) => refused !== undefined),
    ({ refused }) => refused,
  );
  const refused = [...reasons.values()].reduce((sum, { length }) => sum + length, 0);
  return [
    `${title}: ${replays.length} recordings, ${good.length - refused} as they must be, ${refused} refused or an error, ${replays.length - good.length} failed`,
    ...[...reasons].map(([reason, { length }]) => `  ${length}  ${reason}`),
    ...replays.flatMap(({ recording, faults }) =>
      faults.map((fault) => `${recording.vendor} ${recording.api} ${recording.id}: ${fault}`),
    ),
  ];
}
