/** All operations of the admin API: its table of contents. The routes, the access checks and the document come from it. */
import type { Columns } from "../../core/column.ts";
import type { KeyOption } from "../../ledger/keys/option.ts";
import { KEY_OPTIONS } from "../../ledger/keys/options.ts";
import { withColumns } from "../columns.ts";
import { withKeyOptions } from "../key-options.ts";
import { openApiDocument } from "../openapi.ts";
import type { AdminOperation, NamedOperations } from "../operation.ts";
import { withOwn, withOwnMembers, withOwnNotes } from "../own-operations.ts";
import { bookOperations } from "./books.ts";
import { budgetOperations } from "./budgets.ts";
import { callMoneyOperation } from "./call-money.ts";
import { callOperations } from "./calls.ts";
import { configOperations } from "./config.ts";
import { gatewayOperations } from "./gateway.ts";
import { keyOperations } from "./keys.ts";
import { liveOperations } from "./live.ts";
import { nameOperations } from "./names.ts";
import { overviewOperations } from "./overview.ts";
import { providerOperations } from "./providers.ts";
import { rateOperations } from "./rates.ts";
import { reportOperations } from "./reports.ts";
import { routingOperations } from "./routing.ts";
import { sessionOperations } from "./session.ts";
import { storedModelOperations } from "./stored-models.ts";

/** What features and the build declare for the admin API. */
export interface Declarations {
  columns: Columns;
  keyOptions: readonly KeyOption[];
  /** Operations of features. */
  operations?: readonly NamedOperations[];
}

/** Loads them with their schemas, which take memory that a keeper without requests does not need. */
export type LoadDeclarations = () => Promise<Declarations>;

/**
 * @param columns of this build: their members, facts and filters are part of the operations on calls
 * @param keyOptions of this build: members of scopes in the operations on keys
 * @param own of features
 * @throws Error if two operations have an id or a path in common
 */
export function listOperations(
  version: string,
  columns: Columns,
  keyOptions: readonly KeyOption[] = KEY_OPTIONS,
  own: readonly NamedOperations[] = [],
): readonly AdminOperation[] {
  const core: readonly AdminOperation[] = [
    ...sessionOperations,
    ...withOwnNotes(overviewOperations, own),
    ...withKeyOptions(keyOperations, keyOptions),
    ...budgetOperations,
    ...rateOperations,
    ...reportOperations,
    ...withColumns(withOwnMembers(callOperations, own), columns),
    callMoneyOperation,
    ...withColumns(liveOperations, columns),
    ...routingOperations,
    ...storedModelOperations,
    ...providerOperations,
    ...configOperations,
    ...nameOperations,
    ...bookOperations(own),
    ...gatewayOperations(() => openApiDocument(operations, version)),
  ];
  const operations = withOwn(core, own);
  return operations;
}
