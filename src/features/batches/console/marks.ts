/** The shapes of states. */
import type { State as Mark } from "../../../console/parts/icons.tsx";
import type { State } from "../batch.ts";

export const MARKS: Readonly<Record<State, Mark>> = {
  checking: "off",
  waiting: "off",
  running: "ok",
  closing: "ok",
  done: "ok",
  refused: "bad",
  stopping: "warn",
  stopped: "off",
  late: "bad",
  paused: "warn",
};

/** States of which a batch can be cancelled. */
export const CANCELLABLE: readonly State[] = ["checking", "waiting", "running", "paused"];
