Network n {
Layer A {
Type: CONV
Dimensions { K: 8, C: 6, Y: 10, X: 9, R: 3, S: 3 }
Dataflow {
SpatialMap(3,3) K;
TemporalMap(4,4) C;
TemporalMap(5,5) Y';
TemporalMap(4,4) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
Cluster(4,P);
TemporalMap(2,2) K;
SpatialMap(1,1) C;
TemporalMap(2,2) Y';
TemporalMap(3,3) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
}
}
}
