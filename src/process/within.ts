/** The result of the work; rejects when it takes longer than `limit` milliseconds. The work itself continues. */
export async function within<T>(limit: number, work: Promise<T>, because = `no answer within ${limit} ms`): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(because)), limit);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
