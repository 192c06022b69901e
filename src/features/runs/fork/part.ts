/** The part of a gateway that serves a fork. */
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import { createMask } from "../../../gateway/recording/mask.ts";
import { Recorder } from "../../../gateway/recording/recorder.ts";
import type { NamedPart, Seams, WorkerHost, WorkerPart } from "../../../gateway/seams.ts";
import { aroundTape } from "../../../gateway/tape.ts";
import { VERSION } from "../../../process/version.ts";
import { Costs, keeping } from "../../../tapes/costs.ts";
import { createTape, type Fork } from "../../../tapes/file.ts";
import { counts } from "../../../tapes/match.ts";
import { Player } from "../../../tapes/player.ts";
import { ToolPlayer } from "../../../tapes/tool-player.ts";
import { ToolRecorder } from "../../../tapes/tool-recorder.ts";
import type { Rule } from "../flags.ts";
import { ForkedCalls } from "./calls.ts";
import { Forking } from "./forking.ts";
import { ForkedTools } from "./tools.ts";

/** What has happened in a fork. */
export interface ForkReport {
  /** Requests before the fork that the tape lacked. */
  misses: number;
  /** Answers of the tape, and those behind the fork. */
  taped: number;
  live: number;
}

export interface ForkOptions {
  readonly entries: readonly TapeEntry[];
  readonly fork: Fork & { readonly tools: Rule };
  /** The tape's name, for messages. */
  readonly name: string;
  /** The tape of the fork. */
  readonly path: string;
  /** Is kept up to date. */
  readonly report: ForkReport;
  onMiss(text: string): void;
  /** Reports what is not on the tape of the fork; absent: the log does. */
  onLost?(text: string): void;
}

/** The tape of the fork begins with the first config: a reload does not change it. */
export function forkPart(options: ForkOptions): NamedPart<WorkerHost, WorkerPart> {
  const start = (host: WorkerHost): WorkerPart => {
    let opened: { seams: Seams; costs: Costs } | undefined;
    return {
      seams: (config) => (opened ??= open(host, config, options)).seams,
      recorder: () => opened?.costs.record,
      stop: () => opened?.costs.flush(),
    };
  };
  return { name: "fork", load: async () => ({ start }) };
}

function open(host: WorkerHost, config: object, options: ForkOptions) {
  const { entries, fork, name, path, report } = options;
  const { mask: masked, ignore } = patternsOf(config);
  const mask = createMask((text) => host.hide(text), masked);
  const onLost = options.onLost ?? ((text: string) => host.fault(text));
  const create = createTape(path, VERSION, fork);
  const write = keeping((entry) => {
    create(entry);
    if (counts(entry)) report[entry.taped === undefined ? "live" : "taped"]++;
  }, onLost);
  const costs = new Costs(host.ledger, write);
  let last = 0;
  const number = () => ++last;
  const forking = new Forking(entries, fork.at, ignore);
  const onMiss = (text: string) => {
    report.misses++;
    options.onMiss(text);
  };
  const given = { tape: forking.taped, name, mask, keepsTime: false, onMiss };
  const recorder = new Recorder({
    mask,
    number,
    onLost,
    keepsRequest: true,
    write: (entry, { call }) => costs.take(entry, call),
  });
  const { model, tools: rule } = fork;
  const calls = new ForkedCalls({
    ...{ forking, player: new Player(given), recorder, model, rule, number, write },
  });
  const toolPlayer = new ToolPlayer(given);
  const tools = new ForkedTools({
    ...{ forking, player: toolPlayer, rule },
    recorder: new ToolRecorder({ mask, number, onLost, write }),
  });
  const seams: Seams = {
    around: { at: "tape", run: aroundTape(calls) },
    aroundRoutes: tools.around,
    ...(!servesTools(config) && { routes: toolPlayer.routes() }),
  };
  return { seams, costs };
}

/** Another feature has routes for tools, where the config has servers. */
function servesTools(config: object): boolean {
  const { tools } = config as { tools?: { servers?: object } };
  return Object.keys(tools?.servers ?? {}).length > 0;
}

/** What tapes may not contain, and what does not count: the section of another feature says it. A build may be without that. */
function patternsOf(config: object): { mask: RegExp[]; ignore: RegExp[] } {
  const { tape = {} } = config as { tape?: { mask?: readonly string[]; ignore?: readonly string[] } };
  const compile = (patterns: readonly string[] = []) => patterns.map((pattern) => new RegExp(pattern, "g"));
  return { mask: compile(tape.mask), ignore: compile(tape.ignore) };
}
