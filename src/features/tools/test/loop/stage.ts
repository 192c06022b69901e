/** A gateway with a scripted model and tools, for tests. */
import { afterEach } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../../../../../test/helpers/gateway.ts";
import { until } from "../../../../../test/helpers/upstream.ts";
import type { RunOptions } from "../../loop/seams.ts";
import { benchPart, FakeBench, text } from "./bench.ts";
import { type Heard, type Model, type Said, startModel } from "./model.ts";

export interface Stage {
  readonly gateway: RunningGateway;
  readonly model: Model;
  readonly bench: FakeBench;
}

interface Props {
  readonly bench?: FakeBench;
  readonly limits?: Partial<RunOptions>;
  readonly config?: Record<string, unknown>;
  /** Of the host that speaks chat-completions. */
  readonly traits?: Record<string, unknown>;
  /** The gateway has a state folder, and stores answers. */
  readonly stores?: boolean;
}

/** The server `shop` with the tool `find`. */
export const shop = (): FakeBench =>
  new FakeBench({ shop__find: ({ word }) => text(`found ${String(word)}`) });

/** @returns what starts a gateway, which is stopped after the test */
export function makeStage(): (script: (heard: Heard) => Said, props?: Props) => Promise<Stage> {
  const running: { stop(): unknown }[] = [];
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop();
  });
  return async (script, { bench = shop(), limits = {}, config = {}, stores = false, traits } = {}) => {
    const state = stores ? await mkdtemp(join(tmpdir(), "weir-loop-")) : undefined;
    const model = startModel(script);
    if (traits) Object.assign(model.providers["chat-completions"]!, { traits });
    const gateway = await startGateway({
      config: { providers: model.providers, ...config, ...(state && { state, responses: { store: "on" } }) },
      workers: [benchPart(bench, limits)],
    });
    running.push(gateway, model, { stop: () => state && rm(state, { recursive: true, force: true }) });
    return { gateway, model, bench };
  };
}

/** Looks for tea, and then says what it found. */
export const findTea = ({ results }: Heard): Said =>
  results.length === 0
    ? { text: "I look.", calls: [{ name: "shop__find", input: { word: "tea" } }] }
    : { text: `I know: ${results.at(-1)}` };

type Line = Record<string, unknown>;

/** The log lines of a call and of what was done for it, once they are written. */
export async function linesOf({ gateway }: Stage, id: string): Promise<Line[]> {
  const lines = (): Line[] =>
    gateway.log.flatMap((text) => (text.startsWith("{") ? [JSON.parse(text) as Line] : []));
  await until(
    () => lines().some((line) => line["id"] === id),
    5_000,
    () => `the log has no line of ${id}`,
  );
  return lines().filter((line) => line["id"] === id || line["parent"] === id);
}
