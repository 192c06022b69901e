/** The manifest of a feature. It is data: the code behind it is imported where it runs. */
import type { NamedOperations, OwnOperations } from "../admin/operation.ts";
import type { AddedFlag, CommandHead, LoadCheck, NamedForesee } from "../cli/command.ts";
import type { ReferenceKinds } from "../config/references.ts";
import type { Addition, Section } from "../config/section.ts";
import type { CallHeader } from "../core/call-header.ts";
import type { Column } from "../core/column.ts";
import type { Metric } from "../core/metric.ts";
import type { KeyOption } from "../ledger/keys/option.ts";
import type { LoadOwnPlugin, NamedPart, WorkerHost, WorkerPart } from "../gateway/seams.ts";
import type { FeatureTables, KeeperHost, KeeperPart, NamedTables } from "../keeper/seams.ts";
import type { LoadService, NamedService } from "../service/seams.ts";

export interface Feature {
  /** Its folder, and its name for `--without`. */
  readonly name: string;
  /** Other features, without which weir neither builds nor starts with this one. */
  readonly needs?: readonly string[];
  /** Its options in weir.yaml, which its code reads by `section.of(config)`. */
  readonly section?: Section;
  /** Members that it adds to the record of a call. */
  readonly columns?: readonly Column[];
  /** Metrics that its parts count. Their names begin with `weir_`. */
  readonly metrics?: readonly Metric[];
  /** What it adds to the options of a key: its restrictions in config, admin API, commands and console. */
  readonly keyOptions?: readonly KeyOption[];
  /** Headers of calls, for the description of the API. */
  readonly headers?: readonly CallHeader[];
  readonly commands?: readonly CommandHead[];
  /** Flags that it adds to commands of weir. */
  readonly flags?: readonly AddedFlag[];
  /** Its plugin, which runs in front of the others with the same rights. */
  readonly plugin?: LoadOwnPlugin;
  /** References in texts of the config, and the code that reads what they stand for. */
  readonly references?: ReferenceKinds;
  /** Its tables in the store of the books; commands that open the store without a gateway have them too. */
  readonly tables?: () => Promise<{ readonly tables: FeatureTables }>;
  /** Its operations of the admin API, on the store of the books; commands that open the store without a gateway have them too. */
  readonly admin?: () => Promise<{ readonly admin: OwnOperations }>;
  /** Its part in each process that serves calls. */
  readonly worker?: () => Promise<{ start(host: WorkerHost): WorkerPart }>;
  /** Its lines of `weir check`. */
  readonly check?: LoadCheck;
  /** What it would do with a request that `weir explain` explains without a gateway that runs. */
  readonly foresee?: NamedForesee["load"];
  /** Its part in the keeper, beside the books. */
  readonly keeper?: () => Promise<{ start(host: KeeperHost): KeeperPart }>;
  /** Its own process, one for all workers, which weir starts with the first ask of its part in a worker. */
  readonly service?: LoadService;
}

/**
 * The features of `src/features.ts`, sorted by name: the order of a module's exports is not that of its lines.
 * @param exported the module
 */
export function featuresIn(exported: Readonly<Record<string, Feature>>): readonly Feature[] {
  return Object.values(exported).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The columns of features, which follow those that every build has. */
export function columnsOf(features: readonly Feature[]): readonly Column[] {
  return features.flatMap(({ columns = [] }) => columns);
}

/** The options of keys that features add to those that every build has. */
export function keyOptionsOf(features: readonly Feature[]): readonly KeyOption[] {
  return features.flatMap(({ keyOptions = [] }) => keyOptions);
}

/** The sections and options of keys that features add to the config. */
export function additionsOf(features: readonly Feature[]): readonly Addition[] {
  return [...features.flatMap(({ section }) => section ?? []), ...keyOptionsOf(features)];
}

/** The references that features add to the config. One feature has them. */
export function referencesOf(features: readonly Feature[]): ReferenceKinds | undefined {
  return features.find(({ references }) => references)?.references;
}

/** The headers of calls that features declare. */
export function headersOf(features: readonly Feature[]): readonly CallHeader[] {
  return features.flatMap(({ headers = [] }) => headers);
}

/** The flags that features add to commands of weir. */
export function flagsOf(features: readonly Feature[]): readonly AddedFlag[] {
  return features.flatMap(({ flags = [] }) => flags);
}

/** The plugins of features. */
export function pluginsOf(features: readonly Feature[]): readonly LoadOwnPlugin[] {
  return features.flatMap(({ plugin }) => plugin ?? []);
}

/** The parts of features in a process that serves calls. */
export function workersOf(features: readonly Feature[]): NamedPart<WorkerHost, WorkerPart>[] {
  return features.flatMap(({ name, metrics, worker }) =>
    worker ? [{ name, load: worker, ...(metrics && { metrics }) }] : [],
  );
}

/** The processes of features. */
export function servicesOf(features: readonly Feature[]): NamedService[] {
  return features.flatMap(({ name, service }) => (service ? [{ name, load: service }] : []));
}

/** What features find for `weir check`. */
export function checksOf(features: readonly Feature[]): readonly LoadCheck[] {
  return features.flatMap(({ check }) => check ?? []);
}

/** What features would do with a request. */
export function foreseesOf(features: readonly Feature[]): readonly NamedForesee[] {
  return features.flatMap(({ name, foresee }) => (foresee ? [{ name, load: foresee }] : []));
}

/** The tables of features. */
export async function tablesOf(features: readonly Feature[]): Promise<readonly NamedTables[]> {
  const loaded = features.flatMap(({ name, tables }) =>
    tables ? [tables().then((module) => ({ feature: name, tables: module.tables }))] : [],
  );
  return Promise.all(loaded);
}

/** The operations of features in the admin API. */
export async function operationsOf(features: readonly Feature[]): Promise<readonly NamedOperations[]> {
  const loaded = features.flatMap(({ name, admin }) =>
    admin ? [admin().then((module) => ({ feature: name, ...module.admin }))] : [],
  );
  return Promise.all(loaded);
}

/** Starts the parts of features in the keeper. @returns by name */
export async function keeperPartsOf(
  features: readonly Feature[],
  host: KeeperHost,
): Promise<ReadonlyMap<string, KeeperPart>> {
  const started = features.flatMap(({ name, keeper }) =>
    keeper ? [keeper().then(({ start }) => [name, start(host)] as const)] : [],
  );
  return new Map(await Promise.all(started));
}
