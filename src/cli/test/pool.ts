/**
 * Plays `tests` with `jobs` at a time and yields what became of them in their order, each as soon as those before it
 * are told. Leaving the loop starts no further one; `abandon` is then called, and what is running is waited for.
 */
export async function* inOrder<Test, Result>(
  tests: readonly Test[],
  jobs: number,
  { play, abandon }: { readonly play: (test: Test) => Promise<Result>; readonly abandon: () => void },
): AsyncGenerator<Result> {
  const results = tests.map(() => Promise.withResolvers<Result>());
  let next = 0;
  const worker = async () => {
    while (next < tests.length) {
      const index = next++;
      const slot = results[index] as PromiseWithResolvers<Result>;
      await play(tests[index] as Test).then(slot.resolve, slot.reject);
    }
  };
  const workers = Array.from({ length: Math.min(jobs, tests.length) }, worker);
  let told = 0;
  try {
    for (const { promise } of results) {
      const result = await promise;
      told += 1;
      yield result;
    }
  } finally {
    if (told < tests.length || next < tests.length) abandon();
    next = tests.length;
    await Promise.all(workers);
  }
}
