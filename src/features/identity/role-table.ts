/**
 * Which roles may use which operation of the admin API. Closed: an operation that is not here is for keys alone. A role on a path
 * permits what lies on that path and below; what concerns the whole gateway needs the role on `/`.
 */
import type { Role } from "./groups.ts";

/** What of an operation a manager may do: see mandate.ts. */
export type Narrow = "keys" | "limits" | "people";

export interface Permitted {
  readonly roles: readonly Role[];
  readonly narrow?: Narrow;
}

const EVERYBODY: Permitted = { roles: ["viewer", "member", "manager", "admin", "auditor"] };
/** Numbers, names of keys, providers. */
const READERS: Permitted = { roles: ["viewer", "manager", "admin", "auditor"] };
/** What the gateway is made of, and what calls contain. */
const AUDITORS: Permitted = { roles: ["admin", "auditor"] };
/** Who did what, and who there is. */
const OVERSEERS: Permitted = { roles: ["manager", "admin", "auditor"] };
const ADMINS: Permitted = { roles: ["admin"] };
const NOBODY: Permitted = { roles: [] };
const managed = (narrow: Narrow): Permitted => ({ roles: ["manager", "admin"], narrow });

const SESSION = {
  getSession: READERS,
  signOut: EVERYBODY,
  // Its session would have no person, and outlive a suspension.
  makeSignInLink: NOBODY,
};

const NUMBERS = {
  overview: READERS,
  listKeys: READERS,
  getKey: READERS,
  listBudgets: READERS,
  getBudget: READERS,
  listRates: READERS,
  getRate: READERS,
  usage: READERS,
  listPrices: READERS,
  whatIf: READERS,
  listCalls: READERS,
  summarizeCalls: READERS,
  getCall: READERS,
  getCallMoney: READERS,
  cacheReport: READERS,
  cacheSessions: READERS,
  cacheSession: READERS,
  toolCosts: READERS,
  listConversations: READERS,
  getConversation: READERS,
  runningCalls: READERS,
  liveCalls: READERS,
  routing: READERS,
  listModels: READERS,
  explain: READERS,
  listProviders: READERS,
  listNames: READERS,
  listModelFacts: READERS,
  metrics: READERS,
  describe: READERS,
  listBatches: READERS,
  getBatch: READERS,
};

const CONTENTS = {
  getCallBody: AUDITORS,
  listFirstWords: AUDITORS,
  getConversationTalk: AUDITORS,
  watchCall: AUDITORS,
  deleteCaptures: ADMINS,
  cancelBatch: ADMINS,
  retryBatch: ADMINS,
  // They read a body, and send.
  explainReplay: ADMINS,
  replayCall: ADMINS,
  listCaptureRules: ADMINS,
  createCaptureRule: ADMINS,
  deleteCaptureRule: ADMINS,
  listStoredFiles: AUDITORS,
  getStoredFile: AUDITORS,
  deleteStoredFile: ADMINS,
};

const KEYS = {
  createKey: managed("keys"),
  changeKey: managed("keys"),
  revokeKey: managed("keys"),
  rotateKey: managed("keys"),
  playground: managed("keys"),
  importKeys: ADMINS,
  openGateway: ADMINS,
};

const LIMITS = {
  createBudget: managed("limits"),
  changeBudget: managed("limits"),
  raiseBudget: managed("limits"),
  deleteBudget: managed("limits"),
  createRate: managed("limits"),
  changeRate: managed("limits"),
  deleteRate: managed("limits"),
};

const PEOPLE = {
  listPeople: OVERSEERS,
  getPerson: OVERSEERS,
  addPerson: managed("people"),
  changePerson: managed("people"),
  forgetPerson: ADMINS,
  revokeToken: ADMINS,
};

const GATEWAY = {
  missingPrices: AUDITORS,
  listStoredModels: AUDITORS,
  getStoredModel: AUDITORS,
  createStoredModel: ADMINS,
  changeStoredModel: ADMINS,
  deleteStoredModel: ADMINS,
  getConfig: AUDITORS,
  getConfigSource: AUDITORS,
  reloadConfig: ADMINS,
  listSecrets: AUDITORS,
  rekeySecrets: ADMINS,
  listAlerts: AUDITORS,
  listLooks: AUDITORS,
  diffLooks: AUDITORS,
  listGuards: AUDITORS,
  tryGuards: AUDITORS,
  testAlerts: ADMINS,
  lookNow: ADMINS,
  getRehearsalOutlines: AUDITORS,
  rehearseConfig: ADMINS,
};

const TOOLS = {
  listToolServers: AUDITORS,
  listRuns: AUDITORS,
  listServerTools: AUDITORS,
  getServerPins: AUDITORS,
  getServerLogs: AUDITORS,
  approveServerTools: ADMINS,
};

const BOOKS = {
  auditBooks: AUDITORS,
  auditLog: OVERSEERS,
  listAssumptions: AUDITORS,
  listInvoices: AUDITORS,
  reconcile: ADMINS,
  getStore: AUDITORS,
  backupStore: ADMINS,
  checkStore: ADMINS,
  releaseBudgets: ADMINS,
  pruneStore: ADMINS,
};

/** Of its own each person sees all; who may use models may have keys. */
const OWN = {
  getMe: EVERYBODY,
  endMySession: EVERYBODY,
  createMyKey: { roles: ["member", "manager", "admin"] },
  rotateMyKey: { roles: ["member", "manager", "admin"] },
  deleteMyKey: EVERYBODY,
} satisfies Record<string, Permitted>;

/** By id of the operation. */
export const ROLE_TABLE: Readonly<Record<string, Permitted>> = {
  ...SESSION,
  ...NUMBERS,
  ...CONTENTS,
  ...KEYS,
  ...LIMITS,
  ...PEOPLE,
  ...GATEWAY,
  ...TOOLS,
  ...BOOKS,
  ...OWN,
};
