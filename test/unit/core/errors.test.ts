import { expect, it } from 'vitest';
import { formatError } from '../../../src/core/errors.ts';

it('a message is one line of printable text, whatever it names', () => {
  const { message, data } = formatError('a\nb\u001b[31m\u2028c\u009b', 'x', 'y'.repeat(5000));
  expect(message).toBe(`a\ufffdb\ufffd[31m\ufffdc\ufffd: expected x, got ${'y'.repeat(1000)}…`);
  expect(data.subject).toBe('a\nb\u001b[31m\u2028c\u009b');
});
