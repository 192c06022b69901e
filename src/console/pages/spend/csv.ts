/** Saves an answer of the admin API as CSV. */
import { API } from "../../data/api.ts";
import { save } from "../calls/csv.ts";
import { toast } from "../../parts/toasts.tsx";

/** @param to path below `/admin/v1` with its query @param name of the file */
export async function download(to: string, name: string): Promise<void> {
  const response = await fetch(`${API}${to}`, { headers: { accept: "text/csv" } }).catch(() => undefined);
  if (!response?.ok) return toast(`${name} was not saved: weir did not answer with it.`);
  save(await response.text(), name);
}
