// The language of bootstrap templates.

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Template, type TemplateRecord, type TemplateScope } from './template.ts';
import { TemplateError } from './template-syntax.ts';

const SCOPE: TemplateScope = {
  cluster: 'text',
  zone: 'text',
  count: 'number',
  labels: 'map',
  taints: { each: { key: 'text', effect: 'text' } },
  names: 'texts',
};
const VALUES: TemplateRecord = {
  cluster: 'web',
  zone: '',
  count: 2,
  labels: new Map([
    ['a', '1'],
    ['b', "it's"],
  ]),
  taints: [
    { key: 'x', effect: 'NoSchedule' },
    { key: 'y', effect: 'NoExecute' },
  ],
  names: ['p', 'q'],
};

function rendered(source: string, values: TemplateRecord = VALUES): string {
  return Template.read(source, SCOPE).render(values);
}

function refusal(source: string): string {
  try {
    Template.read(source, SCOPE);
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${source}`);
}

describe('a template', () => {
  it.each([
    ['plain { text } }} and }', 'plain { text } }} and }'],
    ['{{cluster}}/{{ cluster }}', 'web/web'],
    ['{{ count }}', '2'],
    ['{{ label "b" }}{{ label "none" }}', "it's"],
    ['{{ shell (label "b") }}', `'it'\\''s'`],
    ['{{ base64 cluster }}', 'd2Vi'],
    ['{{ json labels }}', `{"a":"1","b":"it's"}`],
    ['{{ json taints }}', '[{"key":"x","effect":"NoSchedule"},{"key":"y","effect":"NoExecute"}]'],
    ['{{ "{{" }} and {{ "}}" }}', '{{ and }}'],
    ['{{ join ", " names }}', 'p, q'],
    ['{{ indent 2 "a\\nb\\n\\nc" }}', 'a\n  b\n\n  c'],
    ['{{#if zone}}z{{else}}none{{/if}}', 'none'],
    ['{{ #if cluster }}c{{ /if }}', 'c'],
    ['{{#if equals cluster "web"}}yes{{/if}}{{#if not names}}no{{/if}}', 'yes'],
    ['{{#each taints}}{{key}}:{{effect}}{{#if last}}.{{else}},{{/if}}{{/each}}', 'x:NoSchedule,y:NoExecute.'],
    ['{{#each labels}}{{key}}={{value}};{{/each}}', "a=1;b=it's;"],
    ['{{#each names}}{{#if first}}{{cluster}} {{/if}}{{value}}{{/each}}', 'web pq'],
    ['a\n  {{! a comment with "quote }}\nb', 'a\nb'],
    ['a\n{{#if cluster}}\n  b\n{{/if}}\nc\n', 'a\n  b\nc\n'],
    ['a {{#if zone}}\nb{{/if}}', 'a '],
  ])('given %j, then it renders %j', (source, expected) => {
    expect(rendered(source)).toBe(expected);
  });

  it.each([
    ['{{ clutser }}', 'line 1, column 4: there is no clutser here; known: cluster, zone'],
    ['a\n  {{ nothing }}', 'line 2, column 6: there is no nothing here'],
    ['{{ labels }}', 'line 1, column 4: texts by name cannot be written as it is; use #each, json or join'],
    ['{{#each cluster}}{{/each}}', 'line 1, column 9: #each needs a list, found a text'],
    ['{{#if zone}}', 'line 1, column 1: {{#if}} is not closed by {{/if}}'],
    ['{{#if zone}}{{/each}}', 'line 1, column 13: expected {{/if}} for the block of line 1, found {{/each}}'],
    ['{{#each names}}{{else}}{{/each}}', 'expected {{/each}}'],
    ['{{/if}}', 'line 1, column 1: {{/if}} closes nothing'],
    ['{{ cluster', 'line 1, column 1: {{ is not closed by }}'],
    ['{{ "a }}', 'line 1, column 1: {{ is not closed by }}'],
    ['{{ }}', 'expected a name'],
    ['{{ shell }}', 'there is no shell here'],
    ['{{ shell count }}', 'shell needs a text; found a number'],
    ['{{ shell cluster zone }}', 'shell needs a text; found a text, then a text'],
    ['{{ run cluster }}', 'there is no run here; known: label, shell'],
    ['{{ shell (cluster }}', '( is not closed by )'],
    ['{{ shell cluster) }}', 'unexpected )'],
    ['{{ cluster | zone }}', 'unexpected "|"'],
    ['{{ .Cluster }}', 'unexpected "."'],
    ['{{ "\\x" }}', 'escapes are those of JSON'],
    ['{{#with x}}{{/with}}', 'expected #if or #each'],
    ['{{ key }}', 'there is no key here'],
    ['{{#if zone}}{{ clutser }}{{/if}}', 'there is no clutser here'],
    [`${'{{#if zone}}'.repeat(17)}${'{{/if}}'.repeat(17)}`, 'more than 16 blocks'],
    ['x'.repeat(300_000), 'more than 262144 bytes'],
    ['{{ constructor }}', 'there is no constructor here'],
  ])('given %j, then it is refused when it is read, with the reason', (source, expected) => {
    expect(refusal(source)).toContain(expected);
  });

  it('given a result that is too large, then it is refused', () => {
    const names = Array.from({ length: 40_000 }, () => 'x'.repeat(30));
    expect(() => rendered('{{#each names}}{{value}}{{/each}}', { ...VALUES, names })).toThrow(
      'more than 1048576',
    );
  });

  it('given any text as source, then it is read or refused with a position', () => {
    const pieces = fc.constantFrom(
      '{{',
      '}}',
      '#if ',
      '/if',
      '#each ',
      '/each',
      'else',
      'names',
      '"',
      '(',
      ')',
      '!',
      ' ',
      '\n',
      'x',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        try {
          rendered(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
          expect((error as Error).message).toMatch(/^line \d+, column \d+: /);
        }
      }),
    );
  });

  it('given any text as value, then json is YAML of the text and shell is one word of it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !/[\0\uD800-\uDFFF]/.test(text)),
        (text) => {
          const values = { ...VALUES, cluster: text };
          expect((parse(rendered('a: {{ json cluster }}', values)) as { a: string }).a).toBe(text);
          expect(Buffer.from(rendered('{{ base64 cluster }}', values), 'base64').toString()).toBe(text);
        },
      ),
    );
    for (const text of ["a'b", '$(id) `x` "y"', 'a\nb', '\\', ''])
      expect(
        execFileSync(
          'sh',
          ['-c', `printf %s ${rendered('{{ shell cluster }}', { ...VALUES, cluster: text })}`],
          { encoding: 'utf8' },
        ),
      ).toBe(text);
  });
});
