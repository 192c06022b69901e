/** Identity: calls with tokens of people's identity providers, of CI and of clusters. */
import type { Feature } from "../../feature/feature.ts";
import { personHeader } from "./headers.ts";
import { act } from "./key-options.ts";
import { client, person, personName, via } from "./columns.ts";
import { peopleCommands } from "./flags.ts";
import { tokensChecked } from "./metrics.ts";
import { identitySection } from "./section.ts";

export const identity: Feature = {
  name: "identity",
  section: identitySection,
  columns: [person, personName, via, client],
  metrics: [tokensChecked],
  keyOptions: [act],
  headers: [personHeader],
  tables: () => import("./tables.ts"),
  commands: peopleCommands,
  admin: () => import("./admin.ts"),
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
};
