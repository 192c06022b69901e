/** Reads an explanation of the gateway for the operator who is about to send. */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ReplayPlan } from "./contracts.ts";

type Plan = Pick<ReplayPlan, "status" | "fault" | "runs" | "servedBy" | "cost" | "losses">;

/** @param explained the body of the answer of `POST /v1/explain` */
export function planOf(status: number, explained: unknown): Plan & { isHidden?: true } {
  const read = membersOf(explained);
  if (status !== 200) {
    const error = membersOf(read["error"] ?? read);
    const fault = typeof error["message"] === "string" ? error["message"] : `The gateway answered ${status}.`;
    const isHidden = status === 403 && fault.includes("the endpoint explain");
    return { status, fault, runs: [], ...(isHidden && { isHidden }) };
  }
  const served = membersOf(read["served_by"]);
  const text = (name: string) => String(served[name] ?? "");
  return {
    status,
    runs: runsIn(read["plugins"]),
    servedBy: {
      ...{ provider: text("provider"), model: text("model"), lane: text("lane") },
      tries: listOf(read["plan"]).length,
    },
    ...(read["cost"] !== undefined && { cost: read["cost"] }),
    losses: listOf(read["losses"]).length,
  };
}

/** Tools that weir runs by itself: a part that would offer them says so, each with its server. */
function runsIn(plugins: Json | undefined): string[] {
  return Object.values(membersOf(plugins)).flatMap((said) =>
    listOf(membersOf(said)["tools"]).flatMap((tool) => {
      const { name, server } = membersOf(tool);
      return typeof name === "string" && server !== undefined ? [name] : [];
    }),
  );
}

function membersOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
