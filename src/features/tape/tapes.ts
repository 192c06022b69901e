/** Tapes: recorded calls that are answered again without a provider. README.md of this folder explains them. */
import { resolve } from "node:path";
import { TOOL } from "../../gateway/recording/entry.ts";
import { createMask } from "../../gateway/recording/mask.ts";
import { Recorder } from "../../gateway/recording/recorder.ts";
import { VERSION } from "../../process/version.ts";
import { Costs, keeping } from "../../tapes/costs.ts";
import { createTape, readTape } from "../../tapes/file.ts";
import { counts, Tape } from "../../tapes/match.ts";
import { Player } from "../../tapes/player.ts";
import { ToolPlayer } from "../../tapes/tool-player.ts";
import { ToolRecorder } from "../../tapes/tool-recorder.ts";
import type { OpenTape, TapeTools } from "./part.ts";

/** @throws Error with one sentence if the tape cannot be written */
export function makeRecorder(file: string, folder: string, tools: TapeTools) {
  const write = createTape(resolve(folder, file), VERSION);
  let [calls, messages, last] = [0, 0, 0];
  const onLost = (sentence: string) => tools.fault(sentence);
  const mask = createMask((text) => tools.hide(text), tools.mask);
  const options = { mask, number: () => ++last, onLost };
  const costs = new Costs(
    tools.ledger,
    keeping((entry) => {
      write(entry);
      calls++;
    }, onLost),
  );
  const recorder = new Recorder({
    ...options,
    keepsRequest: true,
    write: (entry, { call }) => costs.take(entry, call),
  });
  const toolRecorder = new ToolRecorder({
    ...options,
    write: (entry) => {
      write(entry);
      if (counts(entry)) messages++;
    },
  });
  const tape: OpenTape = { calls: recorder, aroundRoutes: toolRecorder.around, costs };
  return {
    tape,
    /** Number of calls on the tape. */
    get calls() {
      return calls;
    },
    /** Number of messages to servers of tools that have an answer. */
    get messages() {
      return messages;
    },
  };
}

/** @throws Error with one sentence if the file is no tape */
export function makePlayer(
  file: string,
  folder: string,
  options: { keepsTime: boolean; onMiss(text: string): void },
) {
  const entries = readTape(resolve(folder, file), VERSION);
  const counted = entries.filter(counts);
  const messages = counted.filter(({ operation }) => operation === TOOL).length;
  let tape = new Tape(entries);
  let misses = 0;
  return {
    /** Number of calls and of messages to servers of tools. */
    size: counted.length,
    messages,
    open(tools: TapeTools): OpenTape {
      tape = new Tape(entries, tools.ignore);
      const mask = createMask((text) => tools.hide(text), tools.mask);
      const onMiss = (text: string) => {
        misses++;
        options.onMiss(text);
      };
      const given = { tape, name: file, mask, keepsTime: options.keepsTime, onMiss };
      return { calls: new Player(given), routes: new ToolPlayer(given).routes() };
    },
    /** Number of requests that the tape lacked. */
    get misses() {
      return misses;
    },
    /** Number of recorded calls for which no request came. */
    get unused() {
      return tape.unused;
    },
  };
}
