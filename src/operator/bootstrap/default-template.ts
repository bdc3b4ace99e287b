// The template of mode `tokens` without one in the settings: a script for a machine that has kubeadm, kubelet and a
// container runtime installed, as images of Cluster API do. Printed by `bigfleet operator manifests`, so that a user edits
// a working one. Templates of managed clusters depend on the cloud; the second one is a beginning.

export const KUBEADM_TEMPLATE = `#!/bin/sh
{{! Joins the machine to the cluster with kubeadm. }}
set -eu
mkdir -p /etc/kubernetes
cat > /etc/kubernetes/bigfleet-join.yaml <<'BIGFLEET'
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery:
  bootstrapToken:
    apiServerEndpoint: {{ json endpoint }}
    token: {{ json token }}
    caCertHashes: [{{ json caHash }}]
nodeRegistration:
{{#if taints}}
  taints: {{ json taints }}
{{else}}
  taints: []
{{/if}}
  kubeletExtraArgs:
    - { name: node-labels, value: {{ json nodeLabels }} }
{{#if providerId}}
    - { name: provider-id, value: {{ json providerId }} }
{{/if}}
BIGFLEET
kubeadm join --config /etc/kubernetes/bigfleet-join.yaml
`;

export const PLAIN_TEMPLATE = `#cloud-config
{{! What a machine of a managed cluster starts with. Replace the command by the one of your cloud. }}
write_files:
  - path: /etc/bigfleet/node
    content: {{ json nodeLabels }}
runcmd:
  - [/etc/bigfleet/join, {{ json cluster }}, {{ json nodeLabels }}, {{ json nodeTaints }}, {{ json providerId }}]
`;
