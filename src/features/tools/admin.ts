/** Operations on servers of tools, for operators. */
import type { OwnOperations } from "../../admin/operation.ts";
import { costOperations } from "./cost/operations.ts";
import { operations } from "./operator/operations.ts";

export const admin: OwnOperations = {
  after: ["revokeToken", "importKeys", "listKeys"],
  operations: [...operations, ...costOperations],
};
