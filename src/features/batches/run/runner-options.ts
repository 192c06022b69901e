/** What a runner needs of its worker and of the config. */
import type { KeptFiles } from "../../../core/kept-files.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { AdmitSettings, Costs } from "../admission.ts";
import type { BatchAnswer, Progress, Run, RunnerId } from "../messages.ts";
import type { NativeSettings } from "../native/native-run.ts";
import type { Need } from "../waiting.ts";
import type { Ends } from "./ends.ts";
import type { Slots } from "./slots.ts";

export interface RunnerOptions {
  readonly run: Run;
  readonly host: Pick<WorkerHost, "call" | "callerOfKey" | "isOpen" | "principal" | "fault"> & Partial<Costs>;
  readonly files: KeptFiles;
  readonly slots: Slots;
  readonly settings: RunnerSettings;
  readonly ends?: Ends;
  /** Tells the keeper. */
  tell(progress: Progress & RunnerId): Promise<BatchAnswer>;
  /** Has the keeper reserve what the lines may need. */
  reserve(asked: RunnerId & { readonly needs: readonly Need[] }): Promise<BatchAnswer>;
  /** Asks the keeper what the books have of lines. @param id of the batch */
  booked(id: string): Promise<BatchAnswer>;
}

export interface RunnerSettings {
  readonly retries: number;
  readonly again: boolean;
  readonly limits: { readonly lines: number };
  /** False: all lines of a batch name one model. */
  readonly mixed?: boolean;
  /** Absent: lines are not held to a sum before they run. */
  readonly admit?: AdmitSettings["admit"];
  readonly discount?: number;
  readonly outputShare?: number;
  readonly native?: NativeSettings;
}
