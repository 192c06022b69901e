/** Makes `weir.yaml` of the config of another gateway. It reads and writes no files. */
import type { Provider } from "../../core/provider.ts";
import { arrange } from "./arrange.ts";
import type { EnvironmentVariable, References } from "./environment.ts";
import * as bifrost from "./bifrost/index.ts";
import * as ccr from "./ccr/index.ts";
import * as litellm from "./litellm/index.ts";
import * as portkey from "./portkey/index.ts";
import type { Expectation } from "./draft.ts";
import { withoutEntry } from "./leave-out.ts";
import { Reading } from "./reader.ts";
import type { SettingOutcome, SourceDocument } from "./source.ts";
import { isBelow, writeYaml } from "./write.ts";

/** A gateway whose config weir reads. */
interface Source {
  references: References;
  /** @param keys a further file with the gateway's keys @throws SourceError if the file is no config of the source */
  read(reading: Reading, keys?: SourceDocument): void;
}

export const SOURCES: Readonly<Record<string, Source>> = { litellm, bifrost, ccr, portkey };

export interface Imported {
  /** The text of `weir.yaml`. */
  yaml: string;
  /** One for each leaf of the source. */
  outcomes: SettingOutcome[];
  /** Variables that the text refers to. */
  variables: EnvironmentVariable[];
  /** General differences, one sentence each, without the full stop. */
  remarks: string[];
  /** The requests of the source gateway. */
  expected: Expectation[];
  /** Providers that the text names. */
  providers: string[];
  /** The same with other outcomes and further remarks, also in the text. */
  with(outcomes: SettingOutcome[], remarks?: readonly string[]): Imported;
  /** The same without an entry, such as a provider or an alias: `why` is a clause. */
  without(section: string, entry: string, why: string): Imported;
}

export interface ImportOptions {
  source: string;
  /** The config, with those that it includes. */
  document: SourceDocument;
  /** A list of keys beside the config. */
  keys?: SourceDocument;
  /** The providers of plugins. */
  providers: readonly Provider[];
  /** The command, for the first line of the text. */
  command: string;
}

/** @throws SourceError if the file is no config of the source */
export function importConfig({ source, document, keys, providers, command }: ImportOptions): Imported {
  const { read, references } = SOURCES[source]!;
  const vendors = new Map(providers.map((provider) => [provider.name, provider]));
  const reading = new Reading(document, references, vendors);
  read(reading, keys);
  const { draft, leaves, more, environment } = reading;
  const arranged = arrange(draft, vendors);
  for (const section of ["providers", "aliases", "routes", "prices", "rates"] as const)
    for (const [name, value] of Object.entries(arranged[section])) draft.set([section, name], value);
  const outcomes = [leaves, ...more].flatMap((each) => each.outcomes());
  const remarks = [...(document.notes ?? []), ...reading.remarks, ...arranged.remarks];
  const origins = new Map([...draft.optionOrigins, ...arranged.origins]);
  const write = ({ options, outcomes, remarks }: State): Imported => ({
    yaml: writeYaml({ options, origins, outcomes, remarks, command }),
    outcomes,
    variables: environment.variables,
    remarks,
    expected: draft.expected,
    providers: Object.keys((options["providers"] ?? {}) as object),
    with: (others, further = []) => write({ options, outcomes: others, remarks: [...remarks, ...further] }),
    without: (section, entry, why) => {
      const left = withoutEntry(options, section, entry);
      const from = left.gone.flatMap((block) => origins.get(block) ?? []);
      const isLost = ({ fate, path }: SettingOutcome) =>
        fate !== "none" && from.some((one) => isBelow(path, one));
      return write({
        options: left.options,
        outcomes: outcomes.map((one) => (isLost(one) ? { ...one, fate: "none", why } : one)),
        remarks: [...remarks, `${left.gone.join(", ")} left out: ${why}`],
      });
    },
  });
  return write({ options: draft.options, outcomes, remarks });
}

interface State {
  options: Record<string, unknown>;
  outcomes: SettingOutcome[];
  remarks: string[];
}
