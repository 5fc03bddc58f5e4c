# The lab and its assignments: a shell with the command `tidemark`, or, with LAB=, the starter of that assignment.

export LAB SECRET

ifdef LAB
lab:
	@$(PYTHON) -m tidemark.cli lab "$$LAB"
else
lab: all build/plugin/tidemark.so
	@echo 'tidemark --help lists the commands; exit leaves this shell.'
	@PATH='$(CURDIR)/build/venv/bin':"$$PATH" "$${SHELL:-sh}"
endif

# What grading starts from: a student's files are laid over a copy of this tree, so nothing else is built again.
grade-base: all build/plugin/tidemark.so $(call vmsim_objects,checked) $(call vmsim_objects,fast)
grade: grade-base
	@$(PYTHON) -m tidemark.cli grade $(if $(SECRET),--secret "$$SECRET") -- "$$LAB"
release: grade-base
	@$(PYTHON) -m tidemark.cli release

.PHONY: lab grade-base grade release
-include $(wildcard labs/*/lab.mk)
