import { afterAwake } from "./after-awake.ts";

/** What comes within so many milliseconds; undefined for what fails or comes later. */
export async function inTime<T>(limit: number, work: () => Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const callOff = afterAwake(limit, () => resolve(undefined));
  try {
    return await Promise.race([work(), promise]);
  } catch {
    return undefined;
  } finally {
    callOff();
  }
}
