package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// objects are the objects of a directory by type and name.
type objects struct {
	deployments map[string]*apps.Deployment
	services    map[string]*core.Service
	configs     map[string]*core.ConfigMap
	budgets     map[string]*policy.PodDisruptionBudget
	scalers     map[string]*autoscaling.HorizontalPodAutoscaler
	ingresses   map[string]*networking.Ingress
	policies    map[string]*networking.NetworkPolicy
	namespaces  map[string]*core.Namespace
}

// kubernetes reads all objects of a directory, without unknown fields, and checks what
// they name of one another.
func kubernetes(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	o := objects{
		map[string]*apps.Deployment{}, map[string]*core.Service{}, map[string]*core.ConfigMap{}, map[string]*policy.PodDisruptionBudget{},
		map[string]*autoscaling.HorizontalPodAutoscaler{}, map[string]*networking.Ingress{}, map[string]*networking.NetworkPolicy{}, map[string]*core.Namespace{},
	}
	listed, err := resources(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		return err
	}
	n := 0
	for _, file := range files {
		name := filepath.Base(file)
		if name == "kustomization.yaml" || name == "prometheus-adapter.yaml" {
			continue // no objects of a cluster
		}
		if !slices.Contains(listed, name) {
			err = errors.Join(err, fmt.Errorf("%s is not in kustomization.yaml", file))
		}
		data, rerr := os.ReadFile(file)
		if rerr != nil {
			return rerr
		}
		for i, text := range bytes.Split(data, []byte("\n---\n")) {
			if oerr := o.add(text); oerr != nil {
				err = errors.Join(err, fmt.Errorf("%s: object %d: %w", file, i+1, oerr))
			}
			n++
		}
	}
	fmt.Printf("%s: %d objects\n", dir, n)
	return errors.Join(err, o.check())
}

// resources returns the files that a kustomization names, which must exist.
func resources(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var k struct {
		meta.TypeMeta
		Namespace string
		Resources []string
		Images    []struct{ Name, NewName, NewTag string }
	}
	if err := yaml.UnmarshalStrict(data, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range k.Resources {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err != nil {
			return nil, err
		}
	}
	return k.Resources, nil
}

// add decodes an object.
func (o *objects) add(text []byte) error {
	var t meta.TypeMeta
	if err := yaml.Unmarshal(text, &t); err != nil {
		return err
	}
	switch t.APIVersion + " " + t.Kind {
	case "apps/v1 Deployment":
		return decode(text, o.deployments)
	case "v1 Service":
		return decode(text, o.services)
	case "v1 ConfigMap":
		return decode(text, o.configs)
	case "policy/v1 PodDisruptionBudget":
		return decode(text, o.budgets)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return decode(text, o.scalers)
	case "networking.k8s.io/v1 Ingress":
		return decode(text, o.ingresses)
	case "networking.k8s.io/v1 NetworkPolicy":
		return decode(text, o.policies)
	case "v1 Namespace":
		return decode(text, o.namespaces)
	}
	return fmt.Errorf("%s %s is not known to this check", t.APIVersion, t.Kind)
}

// decode decodes an object strictly, and adds it under its name.
func decode[T any, P interface {
	*T
	meta.Object
}](text []byte, to map[string]P) error {
	obj := P(new(T))
	if err := yaml.UnmarshalStrict(text, obj); err != nil {
		return err
	}
	if obj.GetName() == "" || to[obj.GetName()] != nil {
		return fmt.Errorf("the name %q is empty or used twice", obj.GetName())
	}
	to[obj.GetName()] = obj
	return nil
}

// check checks what the objects name of one another.
func (o *objects) check() (err error) {
	fault := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	for name, d := range o.deployments {
		if !matches(d.Spec.Selector, d.Spec.Template.Labels) {
			fault("deployment %s: the selector does not select its pods", name)
		}
		for _, c := range d.Spec.Template.Spec.Containers {
			for _, problem := range o.container(&d.Spec.Template.Spec, &c) {
				fault("deployment %s: container %s: %s", name, c.Name, problem)
			}
		}
		if !slices.ContainsFunc(o.budgetsOf(d), func(b *policy.PodDisruptionBudget) bool {
			return b.Spec.MaxUnavailable != nil || d.Spec.Replicas != nil && b.Spec.MinAvailable.IntValue() < int(*d.Spec.Replicas)
		}) {
			fault("deployment %s has no disruption budget that lets a node be drained", name)
		}
	}
	for name, s := range o.services {
		for _, p := range s.Spec.Ports {
			if !o.served(labels.Set(s.Spec.Selector), p.TargetPort.StrVal) {
				fault("service %s: no pod has the port %s", name, p.TargetPort.StrVal)
			}
		}
	}
	for name, h := range o.scalers {
		d := o.deployments[h.Spec.ScaleTargetRef.Name]
		if d == nil || d.Spec.Replicas != nil || h.Spec.MinReplicas == nil || *h.Spec.MinReplicas > h.Spec.MaxReplicas {
			fault("autoscaler %s: want a deployment without a number of replicas, and limits in their order", name)
		}
	}
	for name, i := range o.ingresses {
		for _, r := range i.Spec.Rules {
			for _, p := range r.HTTP.Paths {
				s := o.services[p.Backend.Service.Name]
				if s == nil || !slices.ContainsFunc(s.Spec.Ports, func(q core.ServicePort) bool { return q.Name == p.Backend.Service.Port.Name }) {
					fault("ingress %s: there is no service %s with that port", name, p.Backend.Service.Name)
				}
			}
		}
	}
	for name, p := range o.policies {
		for _, rule := range p.Spec.Ingress {
			for _, port := range rule.Ports {
				if !o.served(labels.Set(p.Spec.PodSelector.MatchLabels), port.Port.StrVal) {
					fault("network policy %s: no pod has the port %s", name, port.Port.StrVal)
				}
			}
		}
	}
	return err
}

// container returns what is wrong with a container.
func (o *objects) container(pod *core.PodSpec, c *core.Container) (problems []string) {
	for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe != nil && !hasPort(c, probe.HTTPGet.Port.StrVal) {
			problems = append(problems, "a probe asks a port that is not there: "+probe.HTTPGet.Port.StrVal)
		}
	}
	if c.StartupProbe == nil || c.LivenessProbe == nil {
		problems = append(problems, "has no probe")
	}
	for _, from := range c.EnvFrom {
		if o.configs[from.ConfigMapRef.Name] == nil {
			problems = append(problems, "there is no config map "+from.ConfigMapRef.Name)
		}
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
			problems = append(problems, "there is no volume "+m.Name)
		}
	}
	s := c.SecurityContext
	if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
		pod.SecurityContext == nil || pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot {
		problems = append(problems, "may write to its image, or gain rights")
	}
	return problems
}

func hasPort(c *core.Container, name string) bool {
	return slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == name })
}

// served returns whether a pod that the labels select has a port of that name.
func (o *objects) served(selector labels.Set, port string) bool {
	for _, d := range o.deployments {
		if labels.SelectorFromSet(selector).Matches(labels.Set(d.Spec.Template.Labels)) && hasPort(&d.Spec.Template.Spec.Containers[0], port) {
			return true
		}
	}
	return false
}

// budgetsOf returns the disruption budgets that select the pods of a deployment.
func (o *objects) budgetsOf(d *apps.Deployment) (found []*policy.PodDisruptionBudget) {
	for _, b := range o.budgets {
		if matches(b.Spec.Selector, d.Spec.Template.Labels) {
			found = append(found, b)
		}
	}
	return found
}

func matches(selector *meta.LabelSelector, to map[string]string) bool {
	s, err := meta.LabelSelectorAsSelector(selector)
	return err == nil && !s.Empty() && s.Matches(labels.Set(to))
}
