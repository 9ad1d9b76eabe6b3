lozenge check-rules --rule conv_bn --rule conv_mul --rule trans_trans --instances 8
lozenge check-rules softmax.gsl
lozenge --json check-rules --rule conv_bn --instances 4
lozenge check-rules --rule conv_batch_norm 2>&1 | head -3
lozenge check-rules --rule conv_nb
lozenge check-rules softmax.gsl --instances 0
# what is right for real numbers is wrong for integers, unless the rule leaves them out
lozenge check-rules twice.gsl --instances 8 | head -3
sed 's/  replace/  where x.type in [float32, float64]\n  replace/' twice.gsl > floats.gsl; lozenge check-rules floats.gsl --instances 8; lozenge check-rules --rule trans_trans --instances 4
# a number of axes beyond what is looked at is no proof; within it, there is a model
lozenge check-rules six.gsl --instances 8
sed 's/60/6/' six.gsl > within.gsl; lozenge check-rules within.gsl | head -1
# a slice may run backward
lozenge check-rules backward.gsl --instances 512 | head -2
# what Clip had as attributes is not there for a rule of Clip as it is now
lozenge optimize clipped.graph --rules clipped.gsl --check 2 -o clipped.onnx | grep -e nodes: -e check:
# rules of a functional program: tested, used, replayed
lozenge check-rules own.loz; echo $?
lozenge check-rules own.loz softmax.gsl --rule fuse2 --instances 8
lozenge --json check-rules own.loz --rule lostZero --rule fuse2
lozenge check-rules own.loz --rule fuse3
lozenge check-rules softmax.gsl --emit lemma
lozenge compile own.loz --def inBlocks --emit trace | tee own.trace
lozenge compile own.loz --def inBlocks -o first.c; lozenge compile own.loz --def grow --replay own.trace -o second.c; grep -c "for (" first.c; sed 's/inBlocks/grow/g' first.c | cmp - second.c
lozenge compile own.loz --def grow --strategy 'fuse2; blocked(3)'
lozenge compile own.loz --def wrong -o wrong.c; ls wrong.c
lozenge run own.loz --def inBlocks --size n=3 --check | grep check:
lozenge fmt --check own.loz
