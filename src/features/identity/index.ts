/** Identity: calls with tokens of people's identity providers, of CI and of clusters. */
import type { Feature } from "../../feature/feature.ts";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { client, person, personName, via } from "./columns.ts";
import { tokensChecked } from "./metrics.ts";
import { identitySection } from "./section.ts";

export const identity: Feature = {
  name: "identity",
  section: identitySection,
  columns: [person, personName, via, client],
  metrics: [tokensChecked],
  tables: () => import("./tables.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts") as Promise<{ start(host: KeeperHost): KeeperPart }>,
};
