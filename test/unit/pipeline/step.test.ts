import { expect, it } from 'vitest';
import type { BackendName } from '../../../src/backend/backend.ts';
import { EMPTY, type PipelineEvent, step } from '../../../src/pipeline/step.ts';

const submit = (
  jobId: string,
  backend: BackendName = 'cpu',
  rank = 2,
  devices = ['0'],
): PipelineEvent => ({
  type: 'submitted',
  slot: { jobId, backend, devices, rank },
});
const end = (jobId: string): PipelineEvent => ({ type: 'ended', jobId });

/** The jobs that each event starts. */
function run(...events: PipelineEvent[]): string[] {
  let state = EMPTY;
  return events.map((event) => {
    const next = step(state, event);
    state = next.state;
    return next.actions.map((action) => action.slot.jobId).join(' ');
  });
}

it('starts one job a device, in order of arrival', () => {
  expect(run(submit('a'), submit('b'), submit('c'), end('a'), end('b'), end('c'))).toEqual([
    'a',
    '',
    '',
    'b',
    'c',
    '',
  ]);
});

it('backends do not wait for each other', () => {
  expect(run(submit('a'), submit('b', 'cpu-reference'), submit('c', 'cuda'))).toEqual([
    'a',
    'b',
    'c',
  ]);
});

it('gives each job the first of its devices that is free', () => {
  const both = (jobId: string, devices: string[]) => submit(jobId, 'cuda', 2, devices);
  const places: string[] = [];
  let state = EMPTY;
  for (const event of [
    both('a', ['1', '0']),
    both('b', ['1', '0']),
    both('c', ['0', '1']),
    submit('d', 'cpu', 2, ['0']),
    end('a'),
    end('b'),
    both('e', ['1']),
    both('f', ['1', '0']),
  ]) {
    const next = step(state, event);
    state = next.state;
    places.push(next.actions.map(({ slot, device }) => `${slot.jobId} on ${device}`).join(', '));
  }
  expect(places).toEqual(['a on 1', 'b on 0', '', 'd on 0', 'c on 1', '', '', 'f on 0']);
});

it('a waiting job that ends leaves the queue without starting anything', () => {
  expect(run(submit('a'), submit('b'), submit('c'), end('b'), end('a'))).toEqual([
    'a',
    '',
    '',
    '',
    'c',
  ]);
});

it('starts the most urgent first, and within a class the first to come', () => {
  const [low, normal, critical] = [3, 2, 0];
  const arrivals = [
    submit('a', 'cpu', low),
    submit('b', 'cpu', low),
    submit('c', 'cpu', normal),
    submit('d', 'cpu', critical),
    submit('e', 'cpu', normal),
  ];
  const ends = ['a', 'd', 'c', 'e', 'b'].map(end);
  expect(run(...arrivals, ...ends)).toEqual(['a', '', '', '', '', 'd', 'c', 'e', 'b', '']);
});

it('starts nothing once it drains', () => {
  expect(run(submit('a'), submit('b'), { type: 'drained' }, end('a'), submit('c'))).toEqual([
    'a',
    '',
    '',
    '',
    '',
  ]);
});

it('an unknown end changes nothing', () => {
  expect(run(submit('a'), end('z'), submit('b'))).toEqual(['a', '', '']);
});

it('leaves its input unchanged', () => {
  const before = step(EMPTY, submit('a')).state;
  const copy = structuredClone(before);
  step(before, end('a'));
  expect(before).toEqual(copy);
});
