/** Work in steps, counted: a test of stalls counts steps, and never milliseconds. */

/** Runs all steps, and returns their number with the result. */
export function counted<T>(steps: Generator<void, T, void>): readonly [number, T] {
  for (let count = 1;; count++) {
    const { done, value } = steps.next();
    if (done) return [count, value];
  }
}
