/** For tests: waits for something that comes by itself. */
export async function until(holds: () => boolean | Promise<boolean>, limit = 60_000): Promise<void> {
  const end = performance.now() + limit;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${limit} ms in vain for ${String(holds)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
