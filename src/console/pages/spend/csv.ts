/** Saves an answer of the admin API as CSV. */
import { toast } from "../../parts/toasts.tsx";

/** @param to path below `/admin/v1` with its query @param name of the file */
export async function download(to: string, name: string): Promise<void> {
  const response = await fetch(`/admin/v1${to}`, { headers: { accept: "text/csv" } }).catch(() => undefined);
  if (!response?.ok) return toast(`${name} was not saved: weir did not answer with it.`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
