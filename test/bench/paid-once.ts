/**
 * What `paidOnce` costs a call that no client repeats: CPU time of the process, with the option off and on in turn.
 * `bun test/bench/paid-once.ts [calls of a round] [rounds] [bytes of the prompt]`
 */
import { chatHost, startGateway } from "../helpers/gateway.ts";
import { EVENTS, ask } from "../helpers/cut-streams.ts";
import { sse, startUpstream } from "../helpers/upstream.ts";

const [calls = 1000, rounds = 10, promptBytes = 50_000] = process.argv.slice(2).map(Number);
/** Calls in flight. */
const AT_ONCE = 16;
/** A conversation of an agent. */
const PROMPT = "x".repeat(promptBytes);

const upstream = startUpstream(() => sse(EVENTS));
const start = (enabled: boolean) =>
  startGateway({
    config: { ...chatHost(upstream.url), paidOnce: { enabled }, log: { level: "silent" } },
    target: "source",
  });
const gateways = [await start(false), await start(true)] as const;

/** @returns microseconds of CPU time for each call */
async function round(url: string): Promise<number> {
  let left = calls;
  const before = process.cpuUsage();
  const askSome = async () => {
    while (left-- > 0) await (await ask(url, PROMPT)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askSome));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

for (const { url } of gateways) await round(url);
const pairs: [off: number, on: number][] = [];
for (let turn = 0; turn < rounds; turn++) {
  // Each is first in every other pair.
  const [one, other] = turn % 2 === 0 ? gateways : [gateways[1], gateways[0]];
  const times = [await round(one.url), await round(other.url)] as const;
  pairs.push(turn % 2 === 0 ? [times[0], times[1]] : [times[1], times[0]]);
}
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const off = median(pairs.map(([time]) => time));
const more = median(pairs.map(([without, with_]) => with_ - without));
console.log(
  `${PROMPT.length / 1000} kB prompt, ${EVENTS.length} events, client and provider in the same process: ` +
    `${off.toFixed(0)} µs a call without paidOnce, ${more >= 0 ? "+" : ""}${more.toFixed(0)} µs with it (median of ${rounds} pairs)`,
);
for (const gateway of gateways) await gateway.stop();
upstream.stop();
